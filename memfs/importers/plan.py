"""What becomes of other tools' files: the blocks and passages of a store, as an export holds them.

Nothing is written here, and the files are never changed. A text that fits a block becomes one; a
longer one becomes passages, cut at its headings.
"""

import hashlib
import os
import re
import unicodedata
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace

from memfs.core import frontmatter, headings
from memfs.core.errors import MemfsError
from memfs.core.privacy import public
from memfs.core.rule_scope import RuleScope
from memfs.files import outside
from memfs.hosts import marked_section
from memfs.hosts.marked_section import MARKS
from memfs.importers import foreign_files, text_files
from memfs.importers.foreign_files import ForeignFile
from memfs.secrets import find_secrets
from memfs.store import archive, blocks

_PASSAGE = 2000  # characters
_MOST_PASSAGES = 2000  # of one file
_LONG = 120  # characters of a description that is taken from a text
PRIVATE = "private: add --user to import it into your own store"
_FOR = ("globs", "applyTo", "paths")  # which files it is for, as the tools call it
_EVERYTHING = ("*", "**", "**/*", "**/**")  # for all files, which says nothing
_IMPORT = re.compile(r"(?<!\S)@((?:~|\.{1,2})?/\S+|\S+\.(?:mdc?|txt))(?=[\s,;:)]|\.?(?:\s|\Z))")
_SPAN = re.compile(r"(`+)[^`\n]*\1")
_MARKUP = re.compile(r"^[\s>*+#-]+|[*`]+|!?\[|\]\([^)]*\)|<!--.*?-->")
_SENTENCE = re.compile(r"(?<=[.!?])\s")


@dataclass(frozen=True)
class ImportedFile:
    """One file, and what it becomes: `files` maps paths in a store to bytes.

    `left` says why nothing becomes of it, `refused` whether that is a fault. `imports` are files
    that it names (`@path`), `chars` its size.
    """

    path: str
    label: str
    files: dict[str, bytes]
    chars: int = 0
    left: str = ""
    refused: bool = False
    imports: tuple[str, ...] = ()

    @property
    def block(self) -> bool:
        """Tell whether it becomes a block: else it becomes passages, or nothing."""
        return any(name.startswith("blocks/") for name in self.files)

    def list_items(self) -> list[tuple[str, str]]:
        """List (kind, name) of the items that it becomes, as an import names them."""
        names = [name.removesuffix(".md") for name in self.files]
        if self.block:
            return [("block", name.removeprefix("blocks/")) for name in names]
        return [("passage", os.path.basename(name)) for name in names]


class _LeftError(Exception):
    """A file is not imported; the message says why."""


@dataclass(frozen=True)
class _Text:
    """What is in a file: its front matter and its body, without ours and what is private.

    `head` is the front matter as it stands there.
    """

    meta: dict[str, object]
    body: str
    head: str = ""

    @property
    def kind(self) -> str:
        """The type that Claude Code gives what it remembers, "" without one."""
        below = self.meta.get("metadata")
        found = self.meta.get("type") or (below.get("type") if isinstance(below, dict) else "")
        return str(found or "").strip().lower()


def plan_import(
    sources: Iterable[ForeignFile], limit: Callable[[str], int], *, user: bool, pin: bool
) -> list[ImportedFile]:
    """Turn files into blocks (`limit` tells the size of one by its label) and passages.

    What is private comes into the user's store alone. The same text is taken once.
    """
    texts: dict[str, str] = {}  # where each was first
    taken: dict[str, str] = {}  # of which file each target is

    def make_files(source: ForeignFile, text: _Text) -> dict[str, bytes]:
        same = texts.setdefault(archive.merge_passages(text.body), source.shown)
        if same != source.shown:
            raise _LeftError(f"same text as {same}")
        targets = _make_block(source, text, limit(source.label), pin=pin)
        targets = targets or _make_passages(source, text)
        if other := next((taken[name] for name in targets if name in taken), ""):
            raise MemfsError(f"{other} already has the label '{source.label}'")
        taken.update(dict.fromkeys(targets, source.shown))
        return targets

    found = []
    for source in sorted(
        sources, key=lambda each: os.path.islink(each.path)
    ):  # a file before links
        made = ImportedFile(source.shown, source.label, {})
        try:
            text = _read(source, user=user)
            imports = tuple(_find_imports(text.body))
            files = make_files(source, text)
            made = replace(made, files=files, chars=len(text.body), imports=imports)
        except _LeftError as left:
            made = replace(made, left=str(left))
        except MemfsError as error:
            made = replace(made, left=error.message, refused=True)
        found.append(made)
    return found


def _read(source: ForeignFile, *, user: bool) -> _Text:
    """Read a file; raises `_LeftError` or `MemfsError` if it is not imported."""
    if source.problem:
        raise MemfsError(source.problem)
    if source.private and not user:
        raise _LeftError(PRIVATE)
    raw = text_files.read_text(source.path, source.shown)
    wrong = marked_section.problem(raw, *MARKS)
    if wrong:
        raise MemfsError(f"the memfs section in the file is damaged ({wrong})")
    if source.section:
        _, _, below = f"\n{raw}".partition(f"\n{source.section}\n")
        raw = re.split(r"(?m)^#{1,2} ", below, maxsplit=1)[0]
    own = marked_section.remove_section(raw, *MARKS)
    head, body = (text_files.split_note if own == raw else frontmatter.split)(own)
    meta = text_files.parse_meta(frontmatter.strip_fences(head))
    text = _Text(meta, public(body).strip("\n"), head)
    if _is_user_topic(source, text) and not user:
        raise _LeftError(PRIVATE)
    if source.label == foreign_files.AUTO and not user:
        text = replace(text, body=_filter_index(source, text.body))
    if not text.body.strip():
        raise _LeftError("written by memfs sync" if own != raw else "empty")
    for found in find_secrets(source.kept):
        raise MemfsError(f"its name contains a secret ({found.type})")
    for found in find_secrets(head + text.body):
        secret = (head + text.body)[found.start : found.end]
        line = raw.count("\n", 0, max(raw.find(secret), 0)) + 1
        raise MemfsError(f"line {line} looks like a secret ({found.type})")
    named = list(_find_imports(text.body))
    if named and not re.sub(r"(?<!\S)@\S+", "", text.body).strip():
        raise _LeftError(f"contains only imports of other files: {', '.join(named)}")
    return text


def _is_user_topic(source: ForeignFile, text: _Text) -> bool:
    name = source.label.partition("/")[2]
    if not foreign_files.is_auto_memory(source.label) or not name:
        return False
    return (text.kind or re.split("[_-]", os.path.basename(name))[0]) == "user"


def _filter_index(source: ForeignFile, body: str) -> str:
    folder = os.path.dirname(source.path)
    private = []
    for name in sorted(os.listdir(folder)):
        stem, raw = name.removesuffix(".md"), ""
        with suppress(OSError):  # an unreadable file is judged by its name
            if stem != name:
                raw = outside.read(f"{folder}/{name}", text_files.LARGEST) or ""
        head, text = frontmatter.split(raw)
        meta = text_files.parse_meta(frontmatter.strip_fences(head))
        topic = source._replace(label=f"{foreign_files.AUTO}/{stem.lower()}")
        if name != foreign_files.INDEX and _is_user_topic(topic, _Text(meta, text)):
            private += [name, f"`{stem}`", f"[[{stem}]]"]
    return "\n".join(line for line in body.split("\n") if not any(name in line for name in private))


def _make_block(source: ForeignFile, text: _Text, limit: int, *, pin: bool) -> dict[str, bytes]:
    """Make the one file of a block; {} for a text that is too long for it."""
    if len(text.body) > limit:
        return {}
    head = {
        "description": _summarize(source, text),
        "limit": limit,
        "read_only": False,
        "pinned": pin,
        "paths": _list_paths(text) or None,
        "tags": text_files.list_tags(text.meta, text.kind) or None,
        "source": source.kept,
    }
    written = text_files.write_head(text.head, head)
    return {f"blocks/{source.label}{blocks.SUFFIX}": f"{written}{text.body}\n".encode()}


def _make_passages(source: ForeignFile, text: _Text) -> dict[str, bytes]:
    """Make a file for each passage; its id has the source and a hash of the text."""
    found = headings.split_text(text.body, _PASSAGE)
    if len(found) > _MOST_PASSAGES:
        raise MemfsError(
            f"the file would become {len(found):,} passages; the limit is {_MOST_PASSAGES:,}"
        )
    at = text_files.get_modified_at(source.path)
    kind = source.label.partition("/")[0]
    about_all = str(text.meta.get("description") or "") or ", ".join(_list_paths(text))
    head = {
        "created_at": at,
        "importance": 5,
        "tags": [kind, *text_files.list_tags(text.meta, text.kind)],
        "source": source.kept,
        "description": _describe(source, text) if about_all else None,
    }
    written = text_files.write_head(text.head, head)
    passages = {}
    for number, part in enumerate(found):
        about = _describe(source, text) if about_all and not number else ""
        whole = "\n\n".join(each for each in (" > ".join(part.path), about, part.text) if each)
        name = f"{source.label}-{part.path[-1] if part.path else ''}"
        bare = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        slug = re.sub("[^a-z0-9]+", "-", bare)[:60].strip("-")
        ident = f"{slug}-{hashlib.sha256(whole.encode()).hexdigest()[:8]}"
        passages[f"archive/{at[:7]}/{ident}{archive.SUFFIX}"] = f"{written}{whole}\n".encode()
    return passages


def _describe(source: ForeignFile, text: _Text) -> str:
    applies, summary = ", ".join(_list_paths(text)), _summarize(source, text)
    return f"{summary} (for {applies})" if applies else summary


def _summarize(source: ForeignFile, text: _Text) -> str:
    """Describe a text by its front matter, its first heading, or its first sentence."""
    summary = str(text.meta.get("description") or text.meta.get("name") or "")
    if not summary:
        title = headings.find_heading(text.body)
        plain = title.lower() in ("", os.path.basename(source.path).lower(), "memory")
        summary = _find_sentence(text.body) if plain else _MARKUP.sub("", title)
    return " ".join(summary.split())


def _list_paths(text: _Text) -> list[str]:
    """Return the globs of the files that a text is for; none for one that is for all."""
    value = next((text.meta[key] for key in _FOR if text.meta.get(key)), "")
    found = RuleScope({"paths": value if isinstance(value, list) else str(value)}).paths
    everything = text.meta.get("alwaysApply") is True or any(each in _EVERYTHING for each in found)
    return [] if everything else found


def _find_sentence(body: str) -> str:
    for line in headings.plain_lines(body):
        if line.strip() and not line.startswith(("#", "|", "<", "![")):
            sentence = _SENTENCE.split(_MARKUP.sub("", line.strip()))[0]
            if sentence.strip():
                return sentence if len(sentence) <= _LONG else sentence[: _LONG - 1].rstrip() + "…"
    return ""


def _find_imports(body: str) -> Iterable[str]:
    lines = (_SPAN.sub("", line) for line in headings.plain_lines(body))
    return dict.fromkeys(match.rstrip(".,;:)") for line in lines for match in _IMPORT.findall(line))
