"""The memory that other tools keep in files: where it is, and what it is called here."""

from __future__ import annotations

import hashlib
import os
import re
from typing import TYPE_CHECKING, NamedTuple

from memfs.core import label as labels
from memfs.core.errors import NotFoundError
from memfs.hosts import claude_transcript

if TYPE_CHECKING:
    from collections.abc import Iterator


class ForeignKind(NamedTuple):
    """A file of a tool, or (where `ends` are named) a folder with files that end so."""

    label: str
    path: str
    ends: tuple[str, ...] = ()
    private: bool = False


class ForeignFile(NamedTuple):
    """One file: where it is, its name for people, its label, and why it cannot be taken, or "".

    `kept` is how memory names it: from the project on, or without the folders of its user.
    """

    path: str
    shown: str
    kept: str
    label: str
    private: bool = False
    problem: str = ""


AUTO = "claude-memory"
INDEX = "MEMORY.md"
_MD = (".md",)
KINDS = (
    ForeignKind("claude", "CLAUDE.md"),
    ForeignKind("claude/folder", ".claude/CLAUDE.md"),
    ForeignKind("claude", ".claude/rules", _MD),
    ForeignKind("claude-local", "CLAUDE.local.md", private=True),
    ForeignKind("agents", "AGENTS.md"),
    ForeignKind("gemini", "GEMINI.md"),
    ForeignKind("memory", INDEX),
    ForeignKind("copilot", ".github/copilot-instructions.md"),
    ForeignKind("copilot", ".github/instructions", (".instructions.md",)),
    ForeignKind("cursor", ".cursorrules"),
    ForeignKind("cursor", ".cursor/rules", (".mdc", ".md")),
    ForeignKind("windsurf", ".windsurfrules"),
    ForeignKind("windsurf/rules", ".windsurf/rules"),
    ForeignKind("windsurf", ".windsurf/rules", _MD),
    ForeignKind("cline", ".clinerules"),
    ForeignKind("cline", ".clinerules", _MD),
    ForeignKind("memory-bank", "memory-bank", _MD),
    ForeignKind("serena", ".serena/memories", _MD),
    ForeignKind(AUTO, ".claude/memory", _MD),
)
_AUTO = re.compile(r"/projects/[^/]+/memory/(.+\.md)\Z")  # where Claude Code keeps it by itself
_TEXTS = (".md", ".mdc", ".markdown", ".txt")
_DEEPEST = 3  # folders from a project to the files of a kind
_CUT = 40  # characters of a name that is too long for a label
_ALLOWED = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")


def auto_memory(home: str, projects: list[str]) -> list[str]:
    """List the folders with Claude Code's own memory of a project."""
    found = [f"{claude_transcript.list_folders(home, project)[0]}/memory" for project in projects]
    return [folder for folder in dict.fromkeys(found) if os.path.isdir(folder)]


def is_text_path(path: str) -> bool:
    """Tell whether a path is a folder or a text, by its name: all else would be an export."""
    known = _known(_slashes(path), inside=False)[0]
    return bool(os.path.isdir(path) or path.lower().endswith(_TEXTS) or known)


def find(path: str, top: str, home: str) -> list[ForeignFile]:
    """List the sources in a folder, or the one that a file is. `top` is the project's folder.

    Raises `NotFoundError` for a path that is not there, and a folder that no tool is known for.
    """
    whole = os.path.abspath(path)
    if not os.path.lexists(whole):
        raise NotFoundError(f"there is no file or folder {path}")
    root = top if _below(whole, top) else whole if os.path.isdir(whole) else os.path.dirname(whole)
    if not os.path.isdir(whole):
        return [_source(whole, top, home, root)]
    found = dict.fromkeys(_listed(whole))
    if not found:
        raise NotFoundError(
            f"there is nothing in {path} that memfs knows as the memory of a tool",
            "name its files: memfs import FILE…",
        )
    return [_source(each, top, home, root) for each in found]


def _listed(folder: str) -> Iterator[str]:
    """List the files of every kind that are in a folder; it may be (in) a kind's own."""
    for auto in (folder, f"{folder}/memory"):
        if _AUTO.search(f"{_slashes(auto)}/{INDEX}"):
            yield from _walk(auto, _MD)
    above = folder
    for _ in range(_DEEPEST + 1):
        for kind in KINDS:
            path = f"{above}/{kind.path}"
            if kind.ends and _below(path, folder):
                yield from _walk(path, kind.ends)
            elif kind.ends and _below(folder, path):
                yield from _walk(folder, kind.ends)
            elif not kind.ends and _below(path, folder) and _file(path):
                yield path
        above = os.path.dirname(above)


def _walk(top: str, ends: tuple[str, ...]) -> Iterator[str]:
    """Yield files below a folder, by name; a link to a folder is yielded, and not followed."""
    unread: list[OSError] = []
    for folder, below, names in os.walk(top, onerror=unread.append):
        below[:] = sorted(name for name in below if not name.startswith("."))
        links = [name for name in below if os.path.islink(f"{folder}/{name}")]
        wanted = [name for name in names if name.endswith(ends) and not name.startswith(".")]
        yield from (f"{folder}/{name}" for name in sorted([*wanted, *links]))
    yield from (str(error.filename) for error in unread if os.path.lexists(error.filename))


def _source(path: str, top: str, home: str, root: str) -> ForeignFile:
    name = _slashes(path)
    if _below(path, top):
        shown = kept = name[len(_slashes(top)) :].lstrip("/")
        label, private = _known(kept, inside=True)
        if private:  # in its user's store, beside those of other projects
            label = _label(label, os.path.basename(top))
    else:
        below_home = _below(path, home)
        shown = f"~{name[len(_slashes(home)) :]}" if below_home else name
        label, private = _known(name, inside=False)
        kept = ""
    base = os.path.basename(name)
    label = label or _label("notes", os.path.dirname(kept), os.path.splitext(base)[0])
    kept = kept or f"{label.partition('/')[0]}: {base}"  # it says nothing of its user's folders
    return ForeignFile(path, shown, kept, label, private, _problem(path, root))


def _known(name: str, *, inside: bool) -> tuple[str, bool]:
    """Return (label, private) of a file of a kind that is known, ("", False) for another.

    `inside` a project its name begins there, and tells which folder such a file is for.
    """
    auto = _AUTO.search(name)
    if auto:
        return _topic(auto.group(1)), False
    name = f"/{name}"
    for kind in KINDS:
        before, middle, rest = name.rpartition(f"/{kind.path}/")
        end = next((end for end in kind.ends if rest.endswith(end)), "")
        if middle and end:
            if kind.label == AUTO:
                return _topic(rest), False
            return _label(kind.label, before if inside else "", rest[: -len(end)]), False
    for kind in sorted(KINDS, key=lambda kind: -len(kind.path)):
        if not kind.ends and name.endswith(f"/{kind.path}"):
            folder = name[: -len(kind.path)] if inside else ""
            return _label(kind.label, folder), kind.private
    return "", False


def _topic(rest: str) -> str:
    """Return the label of a file of Claude Code's own memory: its index stands for the whole."""
    return AUTO if rest == INDEX else _label(AUTO, os.path.splitext(rest)[0])


def _label(kind: str, *names: str) -> str:
    """Return a label of a kind for what is named so by folders and files, whatever their names.

    Of names that a label cannot hold, what tells them apart is kept as a number.
    """
    parts = [part for name in names for part in name.split("/") if part]
    clean = [_clean(part) for part in parts]
    room = labels.MAX_DEPTH - 1 - kind.count("/")
    if len(clean) > room:
        first = len(clean) - room + 1
        clean = ["-".join(clean[:first]), *clean[first:]]
    label = "/".join([kind, *clean])
    if not labels.problem(label):
        return label
    return f"{kind}/{'-'.join(clean)[:_CUT].strip('-_')}-{_number('/'.join(parts))}"


def _clean(name: str) -> str:
    kept = "".join(c if c in _ALLOWED else "-" for c in labels.normalise(name))
    kept = re.sub("[_-]*-[_-]*", "-", kept).strip("-_")
    lost = any(not c.isascii() for c in name) or not kept
    return f"{kept or 'x'}-{_number(name)}" if lost else kept


def _number(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:6]


def _problem(path: str, root: str) -> str:
    """Say why a path is not followed, "" if it can be."""
    real = os.path.realpath(path)
    if not _below(real, os.path.realpath(root)):
        return f"it is a link that leads out of {root}, to {real}: name that, if you want it"
    if os.path.isdir(real):
        return "it is a link to a folder" if os.path.islink(path) else "it cannot be read"
    return "" if os.path.exists(real) else "it is a link that leads nowhere"


def _file(path: str) -> bool:
    return os.path.lexists(path) and not os.path.isdir(path)


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _slashes(path: str) -> str:
    return path.replace(os.sep, "/")
