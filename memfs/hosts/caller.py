"""Who runs us: a person at a terminal, or an assistant, known by a variable or a process above."""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress

from memfs import hosts

# What assistants are called as programs, also those that memfs has no hooks for. Not the editors
# whose terminals people use, and so not `cursor`.
_PROGRAMS = frozenset(
    "aider amp auggie claude cline codex copilot crush cursor-agent devin droid gemini goose grok "
    "kilo kimi kiro-cli opencode openhands plandex q qodo qwen roo vibe".split()
)
_PACKAGES = (  # folders of those that an interpreter runs
    "/@anthropic-ai/", "/@charmland/crush/", "/@continuedev/", "/@github/copilot",
    "/@google/gemini-cli", "/@openai/codex", "/@qwen-code/", "/@sourcegraph/amp", "/claude-code",
    "/opencode-ai/",
)  # fmt: skip
# Variables of assistants beside those in `hosts`: what they set, not what their users set for them.
_MARKS = (
    "AI_AGENT", "CLINE_ACTIVE", "CODEX_SANDBOX", "CODEX_THREAD", "COPILOT_AGENT", "COPILOT_CLI",
)  # fmt: skip
_INTERPRETERS = ("bun", "deno", "node", "npm", "npx", "python", "uv")
_MOST_PROCESSES = 64  # above ours
_MOST_WORDS = 5  # of an interpreter, its options and the script


def find_obstacle() -> str:
    """Return why no person is known to look at what is printed; "" where one is.

    What is unknown counts as an assistant: a person is at a terminal that no assistant started.
    """
    if name := find_assistant():
        return f"in the shell of an assistant ({name})"
    streams = (sys.stdin, sys.stdout, sys.stderr)
    if any(stream is not None and stream.isatty() for stream in streams):
        return ""
    return "without a terminal"


def find_folder() -> str:
    """Return the folder to serve: our own, or that of an assistant that started us in its plugin's.

    Of Agent Plugins, whose servers start in the folder of the plugin. The folder of an editor's
    process says nothing: ours is returned for it, and where no process can be looked at.
    """
    here, plugin = os.getcwd(), os.environ.get("PLUGIN_ROOT", "")
    if os.path.realpath(plugin) == here and hosts.find_running_session(os.environ)[1]:
        with suppress(OSError):
            return os.readlink(f"/proc/{os.getppid()}/cwd")
    return here


def find_assistant() -> str:
    """Return the name of the assistant that runs us, "" if none is known."""
    if name := hosts.find_running_session(os.environ)[1]:
        return name
    for variable, value in os.environ.items():
        if value and variable.startswith(_MARKS):
            return variable
    for words in _list_commands_above():
        if name := _name_assistant(words):
            return name
    return ""


def _name_assistant(words: list[str]) -> str:
    """Return the assistant that a command line starts; the arguments of others name none."""
    runs = _get_stem(words[0]).startswith(_INTERPRETERS)
    for word in words[:_MOST_WORDS] if runs else words[:1]:
        if (stem := _get_stem(word)) in _PROGRAMS:
            return stem
        if found := next((each for each in _PACKAGES if each in word.replace("\\", "/")), ""):
            return found.strip("/")
    return ""


def _get_stem(word: str) -> str:
    path = word.partition(" -")[0]  # a process that renames itself has one word
    name = path.replace("\\", "/").rpartition("/")[2].lower()
    return name.removesuffix(".exe").removesuffix(".js")


def _list_commands_above() -> Iterator[list[str]]:
    """Yield the words that each process above ours was started with, the nearest first.

    None are known on Windows.
    """
    listed = {} if os.path.isdir("/proc/self") else _ask_ps()
    number = os.getppid()
    for _ in range(_MOST_PROCESSES):
        number, words = listed[number] if number in listed else _read_process(number)
        if not words:
            return
        yield words


def _read_process(number: int) -> tuple[int, list[str]]:
    """Return (the process above, the words it was started with) of Linux; no words for none."""
    with suppress(OSError, ValueError, IndexError):
        with open(f"/proc/{number}/stat", encoding="utf-8", errors="replace") as file:
            above = int(file.read().rpartition(")")[2].split()[1])
        with open(f"/proc/{number}/cmdline", "rb") as file:
            words = os.fsdecode(file.read(1 << 16)).rstrip("\0").split("\0")
        return above, words
    return 0, []


def _ask_ps() -> dict[int, tuple[int, list[str]]]:
    """Return (the process above, the words) by process, of macOS and other systems."""
    import subprocess  # where there is no /proc

    found = {}
    with suppress(OSError, subprocess.SubprocessError):
        listed = subprocess.run(
            ["/bin/ps", "-axo", "pid=,ppid=,command="], capture_output=True, check=True, timeout=5
        )
        for line in os.fsdecode(listed.stdout).splitlines():
            number, above, *words = line.split()
            found[int(number)] = int(above), words
    return found
