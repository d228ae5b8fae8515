"""git, where it is asked: never with the variables a hook inherits, never a prompt."""

from __future__ import annotations

import os
import subprocess

TOO_LONG = 124  # the exit code that stands for it
# No hook of the user's runs, nothing is signed (that may ask for a passphrase), nothing is tidied.
QUIET = (
    "-c", f"core.hooksPath={os.devnull}", "-c", "commit.gpgSign=false", "-c", "gc.auto=0",
    "-c", "maintenance.auto=false", "--literal-pathspecs",
)  # fmt: skip
_DRIVER = "merge.memfs.driver"
_KEPT = (
    "GIT_EXEC_PATH",
    "GIT_SSL_CAINFO",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
)


def environment() -> dict[str, str]:
    """Return our environment without the repository a hook runs in."""
    env = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("GIT_") or key in _KEPT
    }
    return {**env, "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}


def run(folder: str, *arguments: str, index: str = "") -> str | None:
    """Run git in `folder`; return its output, None if there is no git or it failed."""
    done = start(folder, *arguments, index=index)
    if done is None or done.returncode:
        return None
    return done.stdout.decode("utf-8", "surrogateescape")


def feed(folder: str, data: bytes, *arguments: str) -> bytes | None:
    """Run git with `data` on stdin; return its output, None if there is no git or it failed."""
    done = start(folder, *arguments, data=data)
    return None if done is None or done.returncode else done.stdout


def start(
    folder: str, *arguments: str, data: bytes = b"", seconds: float = 20, index: str = ""
) -> subprocess.CompletedProcess[bytes] | None:
    """Run git in `folder` to its end, None if there is no git; `TOO_LONG` ends it after `seconds`.

    Programs that a repository's configuration names to watch its files are not started. `index` is
    the file of another index than the usual one: that of the commit a git hook runs for.
    """
    env = {**environment(), "GIT_INDEX_FILE": index} if index else environment()
    words = ["git", "-C", folder, "-c", "core.fsmonitor=false", *arguments]
    try:
        return subprocess.run(  # noqa: S603 - fixed program, no shell
            words, input=data, capture_output=True, env=env, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, TOO_LONG, b"", b"git takes too long")
    except OSError:
        return None


def inside(folder: str) -> bool:
    """Tell, without asking git, whether `folder` can be in a working tree."""
    path = os.path.realpath(folder)
    while not os.path.lexists(os.path.join(path, ".git")):
        path, below = os.path.dirname(path), path
        if path == below:
            return False
    return True


def top_level(folder: str) -> str | None:
    """Return the top of the working tree that `folder` is in."""
    if not inside(folder):
        return None
    found = run(folder, "rev-parse", "--show-toplevel")
    return found.rstrip("\n") if found else None


def driver(folder: str) -> str:
    """Return the command that merges blocks in the repository of `folder`, "" if none is set."""
    return (run(folder, "config", "--local", "--get", _DRIVER) or "").rstrip("\n")


def set_driver(folder: str, command: str) -> bool:
    """Register the command that merges blocks in this clone; tell whether that was needed."""
    if top_level(folder) is None or driver(folder) == command:
        return False
    # The command alone: a driver that has a name and no command makes every merge fail.
    return run(folder, "config", "--local", _DRIVER, command) is not None


def merged_by(folder: str, name: str) -> str:
    """Return the merge driver that the attributes name for a path below `folder`."""
    found = run(folder, "check-attr", "merge", "--", name) or ""
    return found.rpartition(": ")[2].strip()


def ignored(path: str) -> bool:
    """Tell whether git ignores a path; True outside git, where nothing can be committed."""
    folder, name = os.path.split(path)
    return top_level(folder) is None or run(folder, "check-ignore", "-q", "--", name) is not None


def dirty(folder: str) -> set[str] | None:
    """Return the real paths below `folder` that differ from HEAD; None outside git."""
    top = top_level(folder)
    if top is None:
        return None
    listed = run(folder, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--", ".")
    if listed is None:
        return None
    names = [item[3:] for item in listed.split("\0") if len(item) > 3]
    return {os.path.realpath(os.path.join(top, name)) for name in names}


def head(folder: str) -> str:
    """Return the id of the commit that is checked out, "" for none."""
    found = inside(folder) and run(folder, "rev-parse", "--verify", "--quiet", "HEAD")
    return (found or "").rstrip("\n")


def identity(folder: str) -> str:
    """Return who commits here: "Name <mail>", "" where git does not know."""
    found = run(folder, "var", "GIT_AUTHOR_IDENT") or ""
    return found.rpartition("> ")[0] + ">" if "> " in found else ""
