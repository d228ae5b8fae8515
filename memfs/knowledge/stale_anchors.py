"""Which anchors of a text are no longer true of the project: only what the history proves."""

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal

from memfs.core import manifests
from memfs.core.anchors import Anchor
from memfs.core.manifests import LOCKS, Manifest
from memfs.store import git
from memfs.store.project_files import ProjectFiles

State = Literal["gone", "moved", "contradicted"]

_PACKAGE = "package.json"
_MAKE = ("Makefile", "makefile", "GNUmakefile")
_JUST = ("justfile", "Justfile", ".justfile")
_MANIFESTS = {"make": _MAKE, "just": _JUST}  # of a runner; the others have package.json
_CONFIGURATION = re.compile(
    r"(?:^|/)(?:\.env[\w.\-]*|[\w.\-]+\.env|(?:docker-)?compose[\w.\-]*\.ya?ml|Dockerfile|"
    r"(?:settings|config|env|constants)\.\w+)$"
)
_MOST_FILES = 8  # whose earlier versions are read for one anchor


@dataclass(frozen=True)
class StaleAnchor:
    """An anchor that is no longer true.

    `now` is what holds instead ("" for nothing), `source` the file that says so. `commit`, `at` and
    `subject` are of the commit that changed it, "" where that is not known.
    """

    anchor: Anchor
    state: State
    now: str = ""
    source: str = ""
    commit: str = ""
    at: str = ""
    subject: str = ""


def find_stale(
    project: ProjectFiles, texts: Sequence[tuple[str, Sequence[Anchor]]]
) -> list[list[StaleAnchor]]:
    """Return the anchors of each text that are no longer true.

    A text is given as its folder (with a slash, "" for the top) and its anchors. Raises
    `TimeoutError` where git takes too long.
    """
    check = _AnchorCheck(project, texts)
    return [
        [stale for each in anchors if (stale := check.check(each, near)) is not None]
        for near, anchors in texts
    ]


class _AnchorCheck:
    def __init__(
        self, project: ProjectFiles, texts: Sequence[tuple[str, Sequence[Anchor]]]
    ) -> None:
        self._project, self._texts = project, texts
        self._list_earlier_scripts = cache(self._read_earlier_scripts)

    def check(self, anchor: Anchor, near: str) -> StaleAnchor | None:
        if anchor.kind == "file":
            return self._check_file(anchor, near)
        if self._project.is_sparse:  # what it lacks cannot be searched
            return None
        return {
            "function": self._check_function,
            "script": self._check_script,
            "tool": self._check_tool,
            "variable": self._check_variable,
            "version": self._check_version,
        }[anchor.kind](anchor)

    def _check_file(self, anchor: Anchor, near: str) -> StaleAnchor | None:
        places = self._project.list_places(anchor.name, near)
        if self._project.has(anchor.name, near) or not self._ignored.isdisjoint(places):
            return None
        gone = self._project.find_removal(anchor.name, near)
        if gone is None:
            return None
        to = gone.moved_to
        state: State = "moved" if to else "gone"
        return StaleAnchor(anchor, state, to, gone.path, gone.id, gone.at, gone.subject)

    def _check_script(self, anchor: Anchor) -> StaleAnchor | None:
        names = _MANIFESTS.get(anchor.of, (_PACKAGE,))
        listed = [path for name in names for path in self._project.list_named(name)]
        present = [self._manifests[path].scripts for path in listed]
        if not present or any(anchor.name in scripts for scripts in present):
            return None
        for path in sorted(listed, key=lambda path: path.count("/"))[:_MOST_FILES]:
            commit = at = ""
            for scripts, which, when in self._list_earlier_scripts(path):
                command = scripts.get(anchor.name)
                if command is not None:
                    now = next(
                        (n for n, c in self._manifests[path].scripts.items() if c and c == command),
                        "",
                    )
                    state: State = "moved" if now else "gone"
                    return StaleAnchor(anchor, state, now, path, commit, at)
                commit, at = which, when
        return None

    def _read_earlier_scripts(self, path: str) -> list[tuple[Mapping[str, str], str, str]]:
        name = posixpath.basename(path)
        return [
            (found.scripts, commit, at)
            for text, commit, at in self._project.list_earlier_texts(path)
            if (found := manifests.read_manifest(name, text)) is not None
        ]

    def _check_tool(self, anchor: Anchor) -> StaleAnchor | None:
        used = {LOCKS[name]: path for name in LOCKS for path in self._project.list_named(name)}
        top = {LOCKS[name]: name for name in LOCKS if name in self._project.list_named(name)}
        if not top or anchor.name in used:
            return None
        now, source = next(iter(top.items()))
        return StaleAnchor(anchor, "contradicted", now, source) if len(top) == 1 else None

    def _check_version(self, anchor: Anchor) -> StaleAnchor | None:
        asked = [
            (path, wanted)
            for path, manifest in self._manifests.items()
            if (wanted := manifest.versions.get(manifests.fold_name(anchor.name)))
        ]
        if not asked or not all(
            manifests.contradicts(anchor.of, anchor.least, wanted) for _, wanted in asked
        ):
            return None
        path, wanted = min(asked, key=lambda each: each[0].count("/"))
        return StaleAnchor(anchor, "contradicted", wanted, path)

    def _check_function(self, anchor: Anchor) -> StaleAnchor | None:
        stem = anchor.of.rpartition(".")[2]
        listed = [name for name in self._project.names if _stem(name) == stem]
        removed = [name for name in self._project.removals if _stem(name) == stem]
        if not (listed or removed) or anchor.name in self._present_words:
            return None
        defined = re.compile(
            rf"\b(?:def|func|function|fn|fun|const|let|sub)\s+(?:\([^()]*\)\s*)?{anchor.name}\b|"
            rf"^\s+(?:async |static |public |private )*{anchor.name}\s*\(",
            re.MULTILINE,
        )
        return self._find_last(anchor, [*listed, *removed], defined)

    def _check_variable(self, anchor: Anchor) -> StaleAnchor | None:
        if anchor.name in self._present_words:
            return None
        known = [*self._project.names, *self._project.removals]
        return self._find_last(
            anchor,
            sorted(filter(_CONFIGURATION.search, known), key=lambda name: name.count("/")),
            re.compile(rf"\b{anchor.name}\b"),
        )

    @cached_property
    def _present_words(self) -> set[str]:
        searched = ("function", "variable")
        return self._project.find_words(
            each.name for _, anchors in self._texts for each in anchors if each.kind in searched
        )

    @cached_property
    def _ignored(self) -> set[str]:
        places = {
            place
            for near, anchors in self._texts
            for each in anchors
            if each.kind == "file" and not self._project.has(each.name, near)
            for place in self._project.list_places(each.name, near)
        }
        return places - set(git.filter_unignored(self._project.top, places))

    def _find_last(
        self, anchor: Anchor, paths: list[str], pattern: re.Pattern[str]
    ) -> StaleAnchor | None:
        for path in paths[:_MOST_FILES]:
            gone = self._project.removals.get(path)
            commit, at = (gone.id, gone.at) if gone else ("", "")
            for text, which, when in self._project.list_earlier_texts(path):
                if pattern.search(text):
                    return StaleAnchor(anchor, "gone", "", path, commit, at)
                commit, at = which, when
        return None

    @cached_property
    def _manifests(self) -> dict[str, Manifest]:
        found = {}
        for path in self._project.names:
            name = posixpath.basename(path)
            if manifests.is_manifest(name) and "node_modules/" not in path:
                read = manifests.read_manifest(name, self._project.read(path))
                if read is not None:
                    found[path] = read
        return found


def _stem(name: str) -> str:
    return posixpath.basename(name).partition(".")[0]
