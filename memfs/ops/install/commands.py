"""The commands that hosts start as our hooks and tools.

A private one names this machine's Python and our files, which is quickest. A shared one is for a
file that git commits: it names nothing of this machine, and runs the `memfs` on the PATH.
"""

import shlex
import sys

from memfs import hosts
from memfs.store import resources

PROGRAM = "memfs"
# The program is there, and so is what its first line names. A host may start any shell, also fish.
_SHARED = (
    'exec sh -c \'m=$(command -v memfs) && read -r p <"$m" && p=${{p#??}} && '
    '[ -x "${{p%% *}}" ] && exec {} 2>/dev/null; exit 0\''
)


def list_commands(host: str) -> tuple[str, ...]:
    """Return all commands of our hooks for a host, with its tools and without."""
    more = ((), ("mcp",))
    private = (hook(host, *words) for words in more)
    return (*private, *(hook(host, *words, shared=True) for words in more))


def hook(*words: str, shared: bool = False) -> str:
    """Return the command of a hook, which does nothing if what it starts is gone.

    Else Gemini refuses a prompt on exit code 127 of the shell, and every host on 2 of Python. No
    shell stays between the host and the hook, which knows the host's process as its parent.
    """
    if shared:
        return _SHARED.format(shlex.join(hook_words(*words, shared=True)))
    program, script = shlex.quote(sys.executable), shlex.quote(resources.path("hooks", hosts.HOOK))
    guard = f"[ -x {program} ] && [ -f {script} ] || exit 0"
    return f"{guard}; exec {shlex.join(python(*words))}"


def hook_words(*words: str, shared: bool = False) -> list[str]:
    """Return the words of a hook's command, for a host that needs no shell."""
    return [*hosts.HOOK_COMMAND.split(), *words] if shared else python(*words)


def python(*words: str) -> list[str]:
    """Return the words of a command: this interpreter, without site-packages, on our file."""
    return [sys.executable, "-I", "-S", "-E", resources.path("hooks", hosts.HOOK), *words]
