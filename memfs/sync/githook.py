"""Our lines in git's pre-commit and post-merge hooks, before those of others, who are still run."""

import os
import re
import shlex
import stat
import sys
from dataclasses import dataclass

from memfs import files
from memfs.core import changes
from memfs.core.errors import StoreError
from memfs.files import atomic, outside
from memfs.hosts import marked_section
from memfs.store import git, lock
from memfs.store.blocks import Place

_MARKS = ("# memfs: begin (memfs sync --no-git-hook takes this out)", "# memfs: end")
_START = "#!/bin/sh\n"
_SHELLS = ("sh", "bash", "dash", "zsh", "ksh")
# What writes hooks anew from a configuration of its own, by what its hooks or their folder say.
_MANAGERS = tuple(
    "husky lefthook pre-commit.com simple-git-hooks overcommit prek captainhook".split()
)
_OPTIONS = {"pre-commit": "--stage", "post-merge": "--merged"}  # of memfs sync, by hook
_PROGRAM = re.compile(r"if \[ -x (.+?) \]; then \1 -P -m memfs sync --")
_PATH = "core.hooksPath"
_HINT = "call memfs sync --stage in your pre-commit hook and memfs sync --merged in post-merge"


@dataclass(frozen=True)
class GitHookOutcome:
    """What happened to a hook's file: created, updated, unchanged or removed."""

    path: str
    outcome: str


def run(place: Place, *, remove: bool = False) -> list[GitHookOutcome]:
    """Install the hooks that renew sections before a commit and after a merge, or `remove` them.

    Raises `StoreError` for a hook that is another program's to write, and is no shell script; then
    none is written.
    """
    store = place.project
    top = git.top_level(store.top) if store else None
    if store is None or top is None or os.path.realpath(top) != os.path.realpath(store.top):
        raise StoreError(
            "git hooks need a project store in the top folder of a git repository",
            "run memfs init in the top folder of the repository",
        )
    with lock.hold_lock(store):
        planned = []
        for name, option in _OPTIONS.items():
            path, shared = _find_path(top, name)
            lines = "" if remove else _render_lines(option, shared=shared)
            planned.append((path, *_plan(path, lines)))
        outcomes = []
        for path, before, after in planned:
            _write(path, before, after)
            outcomes.append(GitHookOutcome(path, changes.name_outcome(before, after)))
    return outcomes


def list_installed(place: Place) -> list[str]:
    """List the hooks that have our lines, [] where they are another program's to write."""
    found = _read_hooks(place).items()
    return [path for path, text in found if marked_section.has_section(text, *_MARKS)]


def _read_hooks(place: Place) -> dict[str, str]:
    store = place.project
    top = git.top_level(store.top) if store else None
    if store is None or top is None or os.path.realpath(top) != os.path.realpath(store.top):
        return {}
    try:
        paths = [_find_path(top, name)[0] for name in _OPTIONS]
        return {path: _read(path) or "" for path in paths}
    except StoreError:  # not ours to write
        return {}


def find_problems(place: Place) -> list[str]:
    """Return what keeps our hooks from being run, [] if none is installed."""
    hooks = _read_hooks(place)
    if not any(marked_section.has_section(text, *_MARKS) for text in hooks.values()):
        return []
    found = []
    for path, text in hooks.items():
        program = _PROGRAM.search(text)
        if not marked_section.has_section(text, *_MARKS):
            found.append(f"{path} does not contain the lines of memfs")
        elif program and not os.access(program[1].strip("'"), os.X_OK):
            found.append(f"{path} runs {program[1]}, which no longer exists")
        elif not os.access(path, os.X_OK):
            found.append(f"{path} is not executable, so git does not run it")
    return found


def _plan(path: str, lines: str) -> tuple[str | None, str | None]:
    """Return the text of a hook and the one that it is to have: with our lines, or without any."""
    try:
        before = _read(path)
    except StoreError:
        if lines:
            raise
        return None, None  # nothing of ours is in it
    text = before or ""
    wrong = marked_section.problem(text, *_MARKS)
    if wrong:
        raise StoreError(f"{path}: {wrong}", "keep one pair of these marks in the file, or none")
    if lines:
        _refuse(path, marked_section.remove_section(text, *_MARKS), exists=before is not None)
        return before, _insert_lines(before, lines)
    after = marked_section.remove_section(text, *_MARKS) if before is not None else None
    return before, None if before != after == _START.rstrip() else after


def _find_path(top: str, name: str) -> tuple[str, bool]:
    """Return the hook's file, and whether it is among the files of the project, to be committed.

    Raises `StoreError` for hooks that serve other repositories too, or that a program manages.
    """
    common = (git.run(top, "rev-parse", "--git-common-dir") or "").rstrip("\n")
    if not common:
        raise StoreError(f"git refuses to use the repository {top}", _HINT)
    git.check_folder(top)
    own = os.path.realpath(os.path.join(top, common))
    # The last one is our own option: none.
    paths = (git.run(top, "config", "--type=path", "--get-all", _PATH) or "").split("\n")[:-2]
    named = paths[-1] if paths else f"{own}/hooks"
    path = os.path.realpath(os.path.join(top, named, name))
    private = path.startswith(own + os.sep)
    if not private and not path.startswith(os.path.realpath(top) + os.sep):
        raise StoreError(f"core.hooksPath leads to {path}, outside of this repository", _HINT)
    within = os.path.relpath(path, own if private else os.path.realpath(top))
    if any(manager in within.lower() for manager in _MANAGERS):
        raise StoreError(f"{path} is managed by another program", _HINT)
    return path, not private


def _refuse(path: str, text: str, *, exists: bool) -> None:
    """Raise `StoreError` for a hook of others that our lines cannot stand in."""
    if not exists:
        return
    if any(name in text.lower() for name in _MANAGERS):
        raise StoreError(f"{path} is managed by another program", _HINT)
    first = text.partition("\n")[0].split()
    shell = os.path.basename(first[-1]) if first and first[0].startswith("#!") else ""
    if shell not in _SHELLS and os.path.basename(first[0] if first else "") not in _SHELLS:
        raise StoreError(f"{path} is not a shell script", _HINT)
    if not os.access(path, os.X_OK) or not os.stat(path).st_mode & stat.S_IXUSR:
        raise StoreError(
            f"{path} is not executable, so git does not run it",
            f"run chmod +x {path}, or remove the file",
        )
    if not os.access(path, os.W_OK) or not os.stat(path).st_mode & stat.S_IWUSR:
        raise StoreError(f"{path} is read-only", _HINT)


def _render_lines(option: str, *, shared: bool) -> str:
    """Render the command of a hook; it never fails what git does. A shared one names no path."""
    python = shlex.quote(sys.executable)
    # -P: without it Python would take a folder `memfs` of the repository for ours.
    command = "memfs" if shared else f"{python} -P -m memfs"
    there = "command -v memfs >/dev/null 2>&1" if shared else f"[ -x {python} ]"
    return f"if {there}; then {command} sync {option} </dev/null || :; fi"


def _insert_lines(before: str | None, lines: str) -> str:
    """Insert our lines below the first line of a hook: it may end with an exit."""
    text = _START if before is None else before
    if marked_section.has_section(text, *_MARKS):
        return marked_section.put_section(text, lines, *_MARKS)
    first, _, rest = text.partition("\n")
    if before is not None and not rest:
        return marked_section.put_section(text, lines, *_MARKS)
    return "\n".join([first, _MARKS[0], lines, _MARKS[1], rest])


def _read(path: str) -> str | None:
    text, size = outside.beginning(path, files.READ_CAP, 0)
    if (text is None and os.path.lexists(path)) or size > files.READ_CAP or "\0" in (text or ""):
        raise StoreError(f"{path} is not a shell script", _HINT)
    return text


def _write(path: str, before: str | None, after: str | None) -> None:
    if after == before:
        return
    if _read(path) != before:
        raise StoreError(
            f"{path} was changed by another program in the meantime", "run memfs sync again"
        )
    if after is None:
        files.remove(path)
        files.sync_folder(os.path.dirname(path))
        return
    files.make_folder(os.path.dirname(path))
    atomic.write(path, after)
    if before is None:
        os.chmod(path, os.stat(path).st_mode | 0o111)  # noqa: S103 - git runs no other
