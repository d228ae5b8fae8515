"""The memory that other tools keep in files: its paths, and its labels here."""

import hashlib
import os
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import NamedTuple

from memfs import files
from memfs.core import label as labels
from memfs.core.errors import NotFoundError
from memfs.files import outside
from memfs.files.account import find_named_folder
from memfs.hosts import claude_transcript, gemini_transcript, own_memory


class ForeignKind(NamedTuple):
    """A file of a tool, or (where `ends` are named) a folder with files that end so."""

    label: str
    path: str
    ends: tuple[str, ...] = ()
    private: bool = False


class ForeignFile(NamedTuple):
    """One file: its path, name for people, label, and why it cannot be imported, or "".

    `kept` is its name in memory: relative to the project, or without its user's folders. Of a file
    with a `section`, the heading that begins it, only that is memory.
    """

    path: str
    shown: str
    kept: str
    label: str
    private: bool = False
    problem: str = ""
    section: str = ""


AUTO = "claude-memory"
INDEX = "MEMORY.md"
_MD = (".md",)
_CODEX = (INDEX, "memory_summary.md")  # its other files are what these are made of
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
_OWN = {kind.path.partition("/")[0] for kind in KINDS if "/" in kind.path}  # `.claude` and such
_AUTO = re.compile(r"/projects/[^/]+/memory/(.+\.md)\Z")  # where Claude Code keeps it by itself
_TEXTS = (".md", ".mdc", ".markdown", ".txt")
_COMMITTED = "the file is committed with the project, so it is not your own memory"
_OTHER = (
    "memfs does not know which tool wrote the file; to import it anyway, give the path of the file"
)
_DEEPEST = 3  # folders from a project to the files of a kind
_CUT = 40  # characters of a name that is too long for a label
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])")  # activeContext


def is_auto_memory(label: str) -> bool:
    """Tell whether a label is that of a file of Claude Code's own memory of a project."""
    return label.partition("/")[0] == AUTO


def find_assistants(
    home: str, top: str, main: str, is_committed: Callable[[str], bool]
) -> list[ForeignFile]:
    """List the files in which assistants keep a memory of a project by themselves, or of its user.

    `main` is the project's main working tree. What is in a store already is left out. What is
    committed with the project names no folder of its user's, and is no memory of theirs.
    """

    def read(path: str) -> str | None:
        return None if is_committed(path) else outside.read(path)

    own = {each.host: each for each in own_memory.find_memories(home, top, read)}
    auto = [
        f"{claude_transcript.READER.list_folders(home, each)[0]}/memory" for each in (top, main)
    ]
    claude = own.get("claude")
    if claude and claude.state != own_memory.HERE:
        auto.append(claude.path)
    found = [each for folder in dict.fromkeys(auto) for each in _list_memory(AUTO, folder, home)]
    agents, user = "claude-agents", find_named_folder("CLAUDE_CONFIG_DIR") or f"{home}/.claude"
    found += _list_memory(agents, f"{user}/agent-memory", home, private=True)
    found += _list_memory(agents, f"{top}/.claude/agent-memory", home, root=top)
    agents = make_label(agents, os.path.basename(top))  # beside those of other projects
    folder = f"{top}/.claude/agent-memory-local"
    for each in _list_memory(agents, folder, home, private=True, root=top):
        found.append(each._replace(problem=_COMMITTED) if is_committed(each.path) else each)
    for folder in gemini_transcript.list_project_folders(home, top):
        found += _list_memory("gemini-memory", f"{folder}/memory", home)
    if "codex" in own:
        every = _list_memory("codex-memory", own["codex"].path, home, private=True)
        found += [each for each in every if os.path.basename(each.path) in _CODEX]
    rules = f"{home}/.codeium/windsurf/memories"
    found += _list_memory("windsurf-memory", rules, home, private=True)
    if "gemini" in own:
        path, label = own["gemini"].path, "gemini-memory"
        problem, kept = (
            find_problem(path, os.path.dirname(path)),
            f"{label}: {os.path.basename(path)}",
        )
        about = (_shorten(path, home), kept, label, True, problem, own_memory.SECTION)
        found.append(ForeignFile(path, *about))
    return found


def _list_memory(
    label: str, folder: str, home: str, *, private: bool = False, root: str = ""
) -> list[ForeignFile]:
    """List the files of a folder of an assistant's memory; `private`: it is its user's.

    No link in it leads out of `root`, which is the folder itself if none is given.
    """
    found = []
    for path in walk_folder(folder, _MD) if os.path.isdir(folder) else ():
        rest = _to_slashes(os.path.relpath(path, folder))
        own = label if rest == INDEX else make_label(label, os.path.splitext(rest)[0])
        kept, problem = f"{label}: {os.path.basename(rest)}", find_problem(path, root or folder)
        found.append(ForeignFile(path, _shorten(path, home), kept, own, private, problem))
    return found


def _shorten(path: str, home: str) -> str:
    name = _to_slashes(path)
    return f"~{name[len(_to_slashes(home)) :]}" if files.is_below(path, home) else name


def is_text_path(path: str) -> bool:
    """Return whether a path is a folder or names a text file; others may be exports."""
    known = _identify(_to_slashes(path), inside=False)[0]
    return bool(os.path.isdir(path) or path.lower().endswith(_TEXTS) or known)


def find(path: str, top: str, home: str) -> list[ForeignFile]:
    """List the memory files in a folder, or the one at a path. `top` is the project's folder.

    Raises `NotFoundError` for a missing path, and for a folder without files of a known tool.
    """
    whole = os.path.abspath(path)
    if not os.path.lexists(whole):
        raise NotFoundError(f"there is no file or folder {path}")
    folder = whole if os.path.isdir(whole) else os.path.dirname(whole)
    root = top if files.is_below(whole, top) else folder
    if not os.path.isdir(whole):
        return [_describe_file(whole, top, home, root)]
    found = dict.fromkeys(_list_files(whole))
    if not found:
        raise NotFoundError(
            f"{path} contains no memory files of a known tool",
            "name the files to import: memfs import FILE…",
        )
    return [_describe_file(each, top, home, root) for each in found]


def find_others(path: str, top: str, home: str) -> list[ForeignFile]:
    """List the texts in a folder that are of no known tool, with that as their problem.

    None in a project and in the folder of a tool: there, they are not meant.
    """
    whole = os.path.abspath(path)
    projects = (".git", ".agent-memory")
    if not os.path.isdir(whole) or os.path.basename(whole) in _OWN:
        return []
    if any(os.path.lexists(f"{whole}/{name}") for name in projects):
        return []
    known = {*_list_files(whole)}
    others = [each for each in walk_folder(whole, _TEXTS) if each not in known]
    root = top if files.is_below(whole, top) else whole
    return [_describe_file(each, top, home, root)._replace(problem=_OTHER) for each in others]


def is_kept_by_tool(folder: str, texts: list[str]) -> bool:
    """Tell whether a folder is one that a known tool keeps, or all of its `texts` are of such.

    A folder of notes is none because one of them is called AGENTS.md.
    """
    whole = os.path.abspath(folder)
    if os.path.basename(whole) in _OWN or set(texts) <= {*_list_files(whole)}:
        return True
    return any(
        files.is_below(whole, f"{above}/{kind.path}")
        for above in _list_above(whole)
        for kind in KINDS
        if kind.ends
    )


def _list_above(folder: str) -> Iterator[str]:
    for _ in range(_DEEPEST + 1):
        yield folder
        folder = os.path.dirname(folder)


def _list_files(folder: str) -> Iterator[str]:
    for auto in (folder, f"{folder}/memory"):
        if _AUTO.search(f"{_to_slashes(auto)}/{INDEX}"):
            yield from walk_folder(auto, _MD)
    for above in _list_above(folder):
        for kind in KINDS:
            path = f"{above}/{kind.path}"
            if kind.ends and files.is_below(path, folder):
                yield from walk_folder(path, kind.ends)
            elif kind.ends and files.is_below(folder, path):
                yield from walk_folder(folder, kind.ends)
            elif not kind.ends and files.is_below(path, folder) and not os.path.isdir(path):
                yield from [path] if os.path.lexists(path) else []


def walk_folder(top: str, ends: tuple[str, ...]) -> Iterator[str]:
    """Yield files below a folder, by name; a link to a folder is yielded, and not followed.

    What is hidden is left out, and what cannot be read is yielded, too.
    """
    unread: list[OSError] = []
    for folder, below, names in os.walk(top, onerror=unread.append):
        below[:] = sorted(name for name in below if not name.startswith("."))
        links = [name for name in below if os.path.islink(f"{folder}/{name}")]
        matching = [name for name in names if name.endswith(ends) and not name.startswith(".")]
        yield from (f"{folder}/{name}" for name in sorted([*matching, *links]))
    yield from (str(error.filename) for error in unread if os.path.lexists(error.filename))


def _describe_file(path: str, top: str, home: str, root: str) -> ForeignFile:
    name = _to_slashes(path)
    if files.is_below(path, top):
        shown = kept = name[len(_to_slashes(top)) :].lstrip("/")
        label, private = _identify(kept, inside=True)
        if private:  # in its user's store, beside those of other projects
            label = make_label(label, os.path.basename(top))
    else:
        shown = _shorten(path, home)
        label, private = _identify(name, inside=False)
        kept = ""
    base = os.path.basename(name)
    label = label or make_label("notes", os.path.dirname(kept), os.path.splitext(base)[0])
    kept = kept or f"{label.partition('/')[0]}: {base}"  # without the user's folders
    return ForeignFile(path, shown, kept, label, private, find_problem(path, root))


def _identify(name: str, *, inside: bool) -> tuple[str, bool]:
    """Return (label, private) of a file of a known kind, ("", False) for another.

    `inside`: the name is relative to a project, and the file's folder becomes part of the label.
    """
    auto = _AUTO.search(name)
    if auto:
        return _label_topic(auto.group(1)), False
    name = f"/{name}"
    for kind in KINDS:
        before, middle, rest = name.rpartition(f"/{kind.path}/")
        end = next((end for end in kind.ends if rest.endswith(end)), "")
        if middle and end:
            if kind.label == AUTO:
                return _label_topic(rest), False
            return make_label(kind.label, before if inside else "", rest[: -len(end)]), False
    for kind in sorted(KINDS, key=lambda kind: -len(kind.path)):
        if not kind.ends and name.endswith(f"/{kind.path}"):
            folder = name[: -len(kind.path)] if inside else ""
            return make_label(kind.label, folder), kind.private
    return "", False


def _label_topic(rest: str) -> str:
    return AUTO if rest == INDEX else make_label(AUTO, os.path.splitext(rest)[0])  # of its index


def make_label(kind: str, *names: str) -> str:
    """Return a valid label: the kind ("" for none), then the names of folders and file.

    Names that a label cannot hold are cleaned, and get a hash that keeps them distinct.
    """
    parts = [part for name in names for part in name.split("/") if part]
    clean = [_clean(part) for part in parts]
    room = labels.MAX_DEPTH - len(kind.split("/") if kind else ())
    if len(clean) > room:
        first = len(clean) - room + 1
        clean = ["-".join(clean[:first]), *clean[first:]]
    label = "/".join(filter(None, [kind, *clean]))
    if not labels.problem(label):
        return label
    short = f"{'-'.join(clean)[:_CUT].strip('-_')}-{_hash_name('/'.join(parts))}"
    return f"{kind}/{short}" if kind else short


def _clean(name: str) -> str:
    from anyascii import anyascii  # what a project rule in Chinese or Cyrillic is called aloud

    # With the letters of ASCII that its others are made of: Übersicht, straße.
    parts = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    bare = _HUMP.sub("-", "".join(each for each in parts if not unicodedata.combining(each)))
    spelled = labels.normalise(_HUMP.sub("-", anyascii(bare)))
    slug = re.sub("[^a-z0-9_-]", "-", spelled)
    slug = re.sub("[_-]*-[_-]*", "-", slug).strip("-_")
    lost = not bare.isascii() or not slug  # two names may be spelled alike
    return f"{slug or 'x'}-{_hash_name(name)}" if lost else slug


def _hash_name(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:6]


def find_problem(path: str, root: str) -> str:
    """Return why a path cannot be read, "" if it can."""
    real = os.path.realpath(path)
    if not files.is_below(real, os.path.realpath(root)):
        return f"it is a link to {real}, outside of {root}; to import the target, name its path"
    if os.path.isdir(real):
        return "it is a link to a folder" if os.path.islink(path) else "it cannot be read"
    return "" if os.path.exists(real) else "it is a broken link"


def _to_slashes(path: str) -> str:
    return path.replace(os.sep, "/")
