"""Check what the memory says of the project against the project."""

import os
import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memfs import files
from memfs.core import frontmatter, manifests, rule_scope
from memfs.core.anchors import Anchor, find_anchors
from memfs.core.body_edits import Replace
from memfs.core.errors import NotFoundError, StoreError, UsageError
from memfs.core.records import Fact
from memfs.knowledge import stale_anchors
from memfs.knowledge.stale_anchors import StaleAnchor
from memfs.store import archive, blocks, commits, facts, git, review_dates, static
from memfs.store.blocks import Place
from memfs.store.project_files import ProjectFiles

_SHORT = 7  # digits of a commit
_WILD = frozenset("*?{")
DATED = ("due", "unreadable")  # the states of dates


@dataclass(frozen=True)
class CheckFinding:
    """One thing in the memory that is no longer true, or is to be looked at again.

    `path` is the file, from the top of the working tree on, and `line` counts from 1. `state` is
    gone, moved, contradicted, or of a date due or unreadable; `kind` is what is named: file,
    function, script, tool, variable, version, or date. `said` is what stands there, `now` what
    holds instead ("" for nothing), `source` the file that says so. `commit`, `at` (UTC, ISO 8601)
    and `subject` are of the commit that changed it. `mend` is the command that mends it, "" where a
    person has to find the words.
    """

    path: str
    line: int
    label: str
    state: str
    kind: str
    said: str
    now: str = ""
    source: str = ""
    commit: str = ""
    at: str = ""
    subject: str = ""
    mend: str = ""

    def explain(self) -> str:
        """Say what holds instead and since when, "" where that is not known."""
        words = []
        if self.state == "moved":
            words.append(f"now {self.now}")
        elif self.state == "contradicted":
            words.append(f"{self.source} says {self.now}")
        elif self.state == "unreadable":
            words.append("not a date; write dates as 2026-12-31")
        elif self.state == "gone" and self.source not in (self.said, f"{self.said}/"):
            words.append(f"formerly in {self.source}")
        if self.commit:
            subject = f' "{self.subject}"' if self.subject else ""
            words.append(f"since {self.at[:10]}, commit {self.commit[:_SHORT]}{subject}")
        return "; ".join(words)

    def make_edit(self) -> Replace | None:
        """Return the edit that mends it, None where a person has to find the words."""
        if not self.mend:
            return None
        words = shlex.split(self.mend)
        return Replace(words[2], words[4], words[5], every=len(words) > 6)


@dataclass(frozen=True)
class CheckReport:
    """What was found in how many texts with how many anchors.

    `shallow`: the clone has a part of the history alone, so that little can be found.
    """

    findings: tuple[CheckFinding, ...]
    texts: int
    anchors: int
    shallow: bool


class _MemoryText(NamedTuple):
    path: str
    text: str
    head: str = ""
    label: str = ""
    fact: Fact | None = None  # it has no line of its own

    def find_due(self) -> Iterator[CheckFinding]:
        """Yield its dates that are past, and those that are none."""
        lines = self.head.split("\n")
        dates: Mapping[str, object] = vars(self.fact) if self.fact else {}
        if any(key in self.head for key in review_dates.KEYS):
            dates = blocks.front_matter(self.head)
        for key, value, day in review_dates.find_due(dates):
            line = next((at for at, each in enumerate(lines, 1) if each.startswith(key)), 1)
            state, said = "due" if day else "unreadable", f"{key}: {day or value}"
            line = 0 if self.fact else line
            yield CheckFinding(self.path, line, self.name, state, "date", said)

    def list_paths(self) -> Iterator[Anchor]:
        """Yield the files and folders that its `paths` name without a wildcard."""
        if not rule_scope.has_scope(self.head):
            return
        lines = self.head.split("\n")
        for glob in rule_scope.RuleScope(blocks.front_matter(self.head)).paths:
            if "/" in glob and not _WILD.intersection(glob):
                line = next((at for at, each in enumerate(lines, 1) if glob in each), 1)
                yield Anchor("file", posixpath.normpath(glob), line - len(lines) + 1, glob)

    @property
    def name(self) -> str:
        """The label of a block, or the id of a fact."""
        return self.fact.id if self.fact else self.label


def run(place: Place, paths: Sequence[str] = (), base: str = "") -> CheckReport:
    """Check the project's memory, or the given Markdown files alone.

    With `base` (a commit or branch) only what its successors caused is reported: what they wrote
    into the memory, or changed in the project. Raises `MemfsError`; `TimeoutError` where git takes
    too long.
    """
    folder = place.top or os.getcwd()
    if git.top_level(folder) is None:
        raise UsageError(
            "memfs check needs git history, and this folder is not in a git repository",
            "run memfs check in a git repository",
        )
    reason, hint = git.find_refusal(folder)
    if reason:  # without the history every name would pass
        raise StoreError(reason, hint)
    project = ProjectFiles(folder)
    texts = list(_read_files(project, paths) if paths else _read_store(place, project))
    named = [[*find_anchors(each.text), *each.list_paths()] for each in texts]
    nears = (posixpath.join(posixpath.dirname(each.path), "") for each in texts)
    stale = stale_anchors.find_stale(project, list(zip(nears, named, strict=True)))
    found: list[CheckFinding] = []
    for each, listed in zip(texts, stale, strict=True):
        found += (_describe(each, one) for one in listed)
        found += each.find_due()
    if base:
        found = list(_filter_caused(project, found, base))
    return CheckReport(tuple(found), len(texts), sum(map(len, named)), project.is_shallow)


def _read_files(project: ProjectFiles, paths: Iterable[str]) -> Iterator[_MemoryText]:
    for path in paths:
        real = os.path.realpath(path)
        inside = os.path.relpath(real, project.top).partition(os.sep)[0] != os.pardir
        raw = files.read(real if inside else os.path.abspath(path))
        if raw is None:
            raise NotFoundError(f"there is no file {path}", "give the paths of Markdown files")
        yield _split(_shorten(project, real), raw)


def _read_store(place: Place, project: ProjectFiles) -> Iterator[_MemoryText]:
    store = place.project
    if store is None:
        raise NotFoundError(
            "this project has no memory", "run memfs init, or name the files to check"
        )
    own = [(path, label) for tier, label, path in blocks.paths(place) if tier == "project"]
    own += [(path, "") for _, path in static.sources(store)]
    own += [(path, "") for path in archive.sources(store)]
    for path, label in own:
        raw = files.read(path)
        if raw:
            yield _split(_shorten(project, path), raw, label)
    for fact in facts.load_facts(store).values():
        if fact.holds and not fact.personal:
            name = f"{fact.at[:7] or 'undated'}.jsonl"
            path = _shorten(project, f"{store.root}/facts/{name}")
            yield _MemoryText(path, fact.statement, fact=fact)


def _split(path: str, raw: str, label: str = "") -> _MemoryText:
    head, body = frontmatter.split(raw)
    return _MemoryText(path, body, head, label)


def _shorten(project: ProjectFiles, path: str) -> str:
    short = os.path.relpath(os.path.realpath(path), project.top)
    return path if short.startswith("..") else short.replace(os.sep, "/")


def _describe(text: _MemoryText, stale: StaleAnchor) -> CheckFinding:
    anchor = stale.anchor
    new = _rewrite(stale)
    mend = ""
    if new and text.label and anchor.line > 0:  # no command edits the front matter
        every = " --all" if text.text.count(anchor.text) > 1 else ""
        words = " ".join(map(shlex.quote, (anchor.text, new)))
        mend = f"memfs edit {shlex.quote(text.label)} --replace {words}{every}"
    line = 0 if text.fact else text.head.count("\n") + anchor.line
    what = (stale.state, anchor.kind, anchor.text, stale.now)
    since = (stale.source, stale.commit, stale.at, stale.subject)
    return CheckFinding(text.path, line, text.name, *what, *since, mend)


def _rewrite(stale: StaleAnchor) -> str:
    """Return what an anchor's text is to become, "" where that is not known."""
    anchor, now = stale.anchor, stale.now
    if not now:
        return ""
    if anchor.kind == "file":
        return anchor.text.replace(anchor.name, now) if anchor.name in anchor.text else now
    if anchor.kind == "version":
        number = re.fullmatch(r"[=^~>v ]*(\d+(?:\.\d+)*)", now)
        parts = number[1].split(".")[: anchor.of.count(".") + 1] if number else []
        return anchor.text.replace(anchor.of, ".".join(parts)) if parts else ""
    if anchor.kind == "tool":  # another one has other commands
        return ""
    return anchor.text.replace(anchor.name, now)


def _filter_caused(
    project: ProjectFiles, found: Iterable[CheckFinding], base: str
) -> Iterator[CheckFinding]:
    words = ("rev-list", f"{base}..HEAD", "--")
    listed = None if base.startswith("-") else git.run(project.top, *words)
    if listed is None:
        raise UsageError(
            f"git has no commit '{base}'", "give a commit or a branch, such as origin/main"
        )
    since = set(listed.split())
    came_from = {each.moved_to: each.path for each in project.removals.values() if each.id in since}
    before: dict[str, set[str]] = {}
    for each in found:
        if each.path not in before:
            was = came_from.get(each.path, each.path)
            old = commits.read_file(project.top, base, was) or ""
            before[each.path] = set(old.splitlines())
        lines = (files.read(os.path.join(project.top, each.path)) or "").splitlines()
        stands = lines[each.line - 1 : each.line]
        if not each.line:
            stands = [line for line in lines if each.label in line]
        is_new = each.commit in since or not before[each.path].issuperset(stands)
        contradicted = each.state == "contradicted"
        if is_new or (contradicted and not _contradicted_at(project, base, each)):
            yield each


def _contradicted_at(project: ProjectFiles, base: str, finding: CheckFinding) -> bool:
    old = commits.read_file(project.top, base, finding.source)
    if old is None or finding.kind == "tool":
        return old is not None
    found = manifests.read_manifest(posixpath.basename(finding.source), old)
    return found is not None and finding.now in found.versions.values()
