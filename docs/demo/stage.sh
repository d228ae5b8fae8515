# shellcheck shell=bash
# What the recordings in this folder stand on: a temporary home with a project, and somebody who types.
#
#     bash docs/demo/session.sh
#
# plays one in your terminal; nothing of yours is read or written. `python -m tests.docs.recordings`
# makes the pictures: it sets MEMFS_RECORDING, and time is then told in marks in place of waiting.
set -euo pipefail

stage=$(cd "$(mktemp -d)" && pwd -P)
trap '[ $? = 0 ] || cat "$stage/log" >&2; rm -rf "$stage"' EXIT
export HOME="$stage/home" USERPROFILE="$stage/home" LC_ALL=C.UTF-8 PAGER=cat GIT_CONFIG_NOSYSTEM=1
export MEMFS_NOW=2026-11-24T09:30:00Z MEMFS_SERVICE_MODE=off
shop="$HOME/shop"

# Of this machine's programs those that are needed: assistants would be found, and asked about.
mkdir "$stage/bin"
for tool in bash cat dirname fold git grep memfs mkdir python3 realpath rm sed sh sleep tr; do
  ln -s "$(command -v "$tool")" "$stage/bin/$tool"
done
PATH="$stage/bin"

mark() { # a word, and seconds: tell the recorder, or wait
  if [ -n "${MEMFS_RECORDING-}" ]; then printf '\e]7;%s=%s\a' "$1" "$2"; else sleep "$2"; fi
}

gap=
look() { mark pause "$1"; }

say() { # a line of ours, below an empty one where something is there
  printf '%s\e[90m# %s\e[0m\n' "$gap" "$1"
  gap=$'\n'
  look "${2-1}"
}

type_in() { # a text, letter by letter
  if [ -n "${MEMFS_RECORDING-}" ]; then
    mark type 0.03
    printf '%s' "$1"
    mark typed 0
  else
    local i
    for ((i = 0; i < ${#1}; i++)); do printf '%s' "${1:i:1}"; sleep 0.03; done
  fi
}

run() { # a command, typed at a prompt; then seconds to read what it says
  printf '\e[32m$\e[0m '
  look 0.3
  type_in "$1"
  look 0.2
  printf '\n'
  eval "$1" </dev/null
  gap=$'\n'
  look "${2-2}"
}

ask() { # a prompt to an assistant, the answer of the hook that it runs, and seconds to read it
  printf '\e[36m>\e[0m '
  look 0.3
  type_in "$1"
  look 0.2
  printf '\n'
  answer_prompt "$1" | fold -s -w 76 | sed $'s/^/\e[90m│\e[0m /'
  look "${2-2}"
}

answer_prompt() { # the text that the hook adds to a prompt
  printf '{"session_id": "now", "cwd": "%s", "hook_event_name": "%s", "prompt": "%s"}' \
    "$shop" "${2-UserPromptSubmit}" "$1" | memfs hook claude | read_answer
}

read_answer() {
  python3 -c 'import json, sys
text = sys.stdin.read()
print(json.loads(text)["hookSpecificOutput"]["additionalContext"].rstrip() if text else "(nothing)")'
}

finish() { # a last prompt, and what it is
  printf '%b\e[0m ' "${1-\e[32m$}"
  look 3
}

# Another project has memfs, and Claude Code is wired to it in all projects. In the shop there was a session
# of Claude Code five weeks ago: the one that `memfs demo` ingests.
prepare() {
  mkdir -p "$HOME/blog" "$shop"
  git init -q "$HOME/blog"
  git init -q "$shop"
  cd "$HOME/blog"
  mkdir "$HOME/.claude"
  memfs -q init </dev/null
  memfs -q install claude --user
  memfs -q edit human --append "Alice. Prefers tabs."
  local folder
  folder="$HOME/.claude/projects/$(printf '%s' "$shop" | LC_ALL=C tr -c 'A-Za-z0-9' '-')"
  mkdir -p "$folder"
  sed -e "s#\"cwd\":\"/home/dev/shop\"#\"cwd\":\"$shop\"#" -e 's/2026-11-/2026-10-/g' \
    -e 's/19 November/19 October/g' "$(dirname "$demo")/../../templates/demo/session.jsonl" \
    >"$folder/4b8e83ae-566d-46e3-8533-55707609ca6f.jsonl"
  cd "$shop"
}
demo=$(realpath "$0")
prepare >"$stage/log" 2>&1
