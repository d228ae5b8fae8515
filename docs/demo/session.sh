#!/usr/bin/env bash
# The moving picture of the README: what memfs does, in twenty seconds.
. "$(dirname "$0")/stage.sh"

run 'memfs init' 2
say "What was said in earlier sessions of Claude Code is there at once:" 0.6
run 'memfs ingest' 1
run 'memfs search "which http client did we choose" -n 1' 3
say "A rule for all sessions to come:" 0.6
run 'memfs edit system_rules --append "HTTP timeouts are 5 seconds."' 1
say "Each session of your assistant now begins with it:" 0.6
run 'memfs show | grep -A 2 RULES | fold -s' 2.5
run 'memfs edit human --replace tabs spaces' 1
run 'memfs undo human' 1.5
finish
