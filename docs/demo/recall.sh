#!/usr/bin/env bash
# A prompt, five weeks later, and what it brings.
. "$(dirname "$0")/stage.sh"
{
  memfs init </dev/null
  memfs ingest
  answer_prompt "" SessionStart
} >>"$stage/log" 2>&1

say "Five weeks later, in a new session. You ask your assistant:" 0.8
ask "the payments client hangs: do we have a timeout?" 6
say "That is what memfs put next to your prompt: you did not search for it." 2
say "A prompt about something else brings nothing:" 0.8
ask "rename the invoice template" 1
finish '\e[36m>'
