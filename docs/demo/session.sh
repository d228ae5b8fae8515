#!/usr/bin/env bash
# The moving picture of the README: what memfs does, in about twenty seconds.
. "$(dirname "$0")/stage.sh"

run 'memfs init' 1.4
say "What was said in earlier sessions of Claude Code is found from now on:" 0.6
run 'memfs ingest' 0.7
run 'memfs search "which http client did we choose" -n 1' 2.6
say "A rule for all sessions to come:" 0.4
run 'memfs edit system_rules --append "HTTP timeouts are 5 seconds."' 0.8
say "Each session of your assistant now begins with it:" 0.6
run 'memfs show | grep -A 2 RULES | fold -s' 2
say "An edit, and back again:" 0.4
run 'memfs edit human --replace tabs spaces' 0.7
run 'memfs undo human' 1
finish
