"""Draft a block from the project's own files: packages, versions, commands, owners.

Each line names the file that says so, and is one that `memfs check` can compare later. What an
instruction file says already is left out: assistants read that anyway. No free text of a file gets
into a line, only names and numbers of a known form.
"""

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from memfs.core import label as labels
from memfs.core import manifests
from memfs.core.body_edits import Create
from memfs.hosts.marked_section import TARGETS
from memfs.store import blocks, git, recall
from memfs.store.blocks import Place
from memfs.store.project_files import ProjectFiles

LABEL = "project_setup"
_DESCRIPTION = (
    "How this project is installed, run and checked, and who owns what, according to its own files."
)
_ROOM = 1500  # characters of the block
_OWNERS_ROOM = 400
_LANGUAGES = {
    "node": "Node",
    "python": "Python",
    "go": "Go",
    "ruby": "Ruby",
    "java": "Java",
    "rust": "Rust",
    "bun": "Bun",
    "deno": "Deno",
}
_ASKING = ("package.json", "pyproject.toml", "go.mod", "Cargo.toml")
_PYTHON_LOCKS = {"uv.lock": "uv sync", "poetry.lock": "poetry install", "pdm.lock": "pdm install"}
_MAKEFILES = {"Makefile": "make", "GNUmakefile": "make", "justfile": "just", "Justfile": "just"}
_SCRIPTS = (
    *("test", "tests", "test:unit", "test:integration", "test:e2e", "e2e", "lint", "lint:fix"),
    *("format", "fmt", "typecheck", "type-check", "check", "build", "dev", "start", "docs"),
    *("generate", "codegen", "migrate"),
)
_NO_TEST = "no test specified"
_BOUND = re.compile(r"(?:>=|\^|~=?|==?)? ?v?(\d{1,4}(?:\.\d{1,4}){0,2})")
_PYTHON_TOOLS = {
    "tests": ("pytest", "tox", "nox"),
    "lint": ("ruff", "flake8", "pylint", "black", "isort"),
    "types": ("mypy", "pyright", "basedpyright", "ty"),
}
_CODEOWNERS = ("CODEOWNERS", ".github/CODEOWNERS", "docs/CODEOWNERS")
_OWNER = re.compile(r"@[\w\-]{1,60}(?:/[\w.\-]{1,60})?")
_OWNED = re.compile(r"/?((?:[\w.@\-]+/)*[\w.@\-]+/?)(?:\*\*?)?")


class DraftLine(NamedTuple):
    """A line of a block, and the file that says so, from the top of the working tree on."""

    text: str
    source: str

    def render(self) -> str:
        """Return it as the block has it."""
        source = f"`{self.source}`"
        return f"- {self.text}" + ("" if source in self.text else f" (source: {source})")


def is_due(place: Place) -> bool:
    """Tell whether a project has commits, no sessions yet, and no such block."""
    store = place.project
    if store is None or not store.trusted or recall.sources(store) or is_written(place):
        return False
    return bool(git.get_head_commit(store.top))


def is_written(place: Place) -> bool:
    """Tell whether the project has the block."""
    return blocks.resolve_label(place, labels.qualify(labels.PROJECT, LABEL)) is not None


def run(place: Place) -> list[DraftLine]:
    """Return the lines of the block for a project, as many as there is room for. Writes nothing."""
    if place.project is None:
        return []
    found: list[DraftLine] = []
    room = _ROOM
    for line in _Drafter(ProjectFiles(place.project.top)).list_lines():
        room -= len(line.render()) + 1
        if room < 0:
            break
        found.append(line)
    return found


def make_edit(lines: Iterable[DraftLine]) -> Create:
    """Return the edit that makes the block of these lines."""
    text = "\n".join(line.render() for line in lines)
    return Create(labels.qualify(labels.PROJECT, LABEL), _DESCRIPTION, text)


class _Drafter:
    def __init__(self, project: ProjectFiles) -> None:
        self._project = project
        self._names = frozenset(project.names)
        paths = [each.path for each in TARGETS.values()]
        self._instructions = [path for path in paths if self._has(path)]
        self._said = "\n".join(map(self._read, self._instructions))

    def list_lines(self) -> Iterator[DraftLine]:
        yield from self._list_pointers()
        yield from self._list_packages()
        yield from self._list_versions()
        yield from self._list_scripts()
        yield from self._list_python_tools()
        yield from self._list_owners()

    def _has(self, name: str) -> bool:
        return f"{self._project.prefix}{name}" in self._names

    def _read(self, name: str) -> str:
        return self._project.read(f"{self._project.prefix}{name}")

    def _make(self, text: str, name: str) -> DraftLine:
        return DraftLine(text, f"{self._project.prefix}{name}")

    def _says(self, pattern: str) -> bool:
        """Tell whether an instruction file has what matches, as a word of its own."""
        return re.search(rf"(?<![\w\-]){pattern}(?![\w:\-])", self._said) is not None

    def _list_pointers(self) -> Iterator[DraftLine]:
        """Yield the file that some assistants read and others do not, where there is one alone."""
        agents, claude = TARGETS["agents"].path, TARGETS["claude"].path
        listed = [path for path in (agents, claude) if self._has(path)]
        if len(listed) == 1:
            yield self._make(f"Instructions for assistants: `{listed[0]}`", listed[0])

    def _list_packages(self) -> Iterator[DraftLine]:
        managers = self._find_managers()
        if len(managers) == 1:
            manager, lock = managers[0]
            if not self._says(manager):
                yield self._make(f"Packages: `{manager} install`", lock)
        locks = [lock for lock in _PYTHON_LOCKS if self._has(lock)]
        tool = locks[0].partition(".")[0] if locks else ""
        is_used = tool == "uv" or tool in self._read("pyproject.toml")  # else the lock may be old
        if len(locks) == 1 and is_used and not self._says(tool):
            yield self._make(f"Python packages: `{_PYTHON_LOCKS[locks[0]]}`", locks[0])

    def _find_managers(self) -> list[tuple[str, str]]:
        found = {manager: lock for lock, manager in manifests.LOCKS.items() if self._has(lock)}
        return list(found.items())

    def _list_versions(self) -> Iterator[DraftLine]:
        said = {
            language
            for language, title in _LANGUAGES.items()
            if self._says(rf"(?i:{title})(?:\.js)?[ *`]*(?:>=|≥)? ?v?\d[\d.+x]*")
        }
        told: dict[str, str] = {}
        for name in (*manifests.PINNED, ".tool-versions", *_ASKING):
            read = manifests.read_manifest(name, self._read(name)) if self._has(name) else None
            for language, title in _LANGUAGES.items() if read else ():
                asked = read.versions.get(language, "") if read else ""
                bound = _BOUND.match(asked)
                if language in said or bound is None or "||" in asked:
                    continue
                if language in told and _is_start(told[language], bound[1]):
                    continue
                told[language] = bound[1]
                least = ">=" if asked.startswith((">=", "^", "~")) else ""
                yield self._make(f"{title} {least}{bound[1]}", name)

    def _list_scripts(self) -> Iterator[DraftLine]:
        read = manifests.read_manifest("package.json", self._read("package.json"))
        scripts = (
            {name for name, run in read.scripts.items() if _NO_TEST not in run} if read else ()
        )
        managers = self._find_managers()
        runner = managers[0][0] if len(managers) == 1 else "npm"
        yield from self._make_commands(runner, "run ", scripts, "package.json")
        for name, runner in _MAKEFILES.items():
            read = manifests.read_manifest(name, self._read(name)) if self._has(name) else None
            if read:  # a target with the name of a script runs that
                yield from self._make_commands(runner, "", read.scripts.keys() - scripts, name)

    def _make_commands(
        self, runner: str, verb: str, names: Collection[str], source: str
    ) -> Iterator[DraftLine]:
        told = [
            f"`{runner} {verb}{name}`"
            for name in _SCRIPTS
            if name in names and not self._says(rf"{runner} (?:run )?{name}")
        ]
        if told:
            yield self._make(f"Commands: {', '.join(told)}", source)

    def _list_python_tools(self) -> Iterator[DraftLine]:
        try:
            found = tomllib.loads(self._read("pyproject.toml"))
        except (tomllib.TOMLDecodeError, RecursionError):
            return
        tools = found.get("tool")
        names = tools if isinstance(tools, dict) else {}
        told = []
        for what, known in _PYTHON_TOOLS.items():
            used = [tool for tool in known if tool in names]
            if used and not any(map(self._says, known)):
                told.append(f"{what} with {', '.join(used)}")
        if told:
            yield self._make(f"Python: {'; '.join(told)}", "pyproject.toml")

    def _list_owners(self) -> Iterator[DraftLine]:
        source = next((name for name in _CODEOWNERS if self._has(name)), "")
        listed, owned = self._read(source).splitlines() if source else [], []
        left, room = False, _OWNERS_ROOM
        for line in listed:
            path, *owners = line.partition("#")[0].split() or [""]
            handles = " ".join(filter(_OWNER.fullmatch, owners))
            inside = _OWNED.fullmatch(path)
            is_there = inside is not None and self._project.has(inside[1].rstrip("/"))
            shown = f"`{inside[1]}` {handles}" if inside and is_there else f"by default {handles}"
            is_fit = bool(handles) and (is_there or path == "*") and len(shown) <= room
            left |= bool(path) and not is_fit
            if is_fit:
                room -= len(shown) + 2
                owned.append(shown)
        if owned:
            more = "; more there" if left else ""
            yield self._make(f"Owners: {'; '.join(owned)}{more}", source)


def _is_start(first: str, second: str) -> bool:
    """Tell whether two versions are the same as far as both say."""
    pairs = zip(first.split("."), second.split("."), strict=False)
    return all(one == other for one, other in pairs)
