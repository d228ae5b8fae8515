"""Facts in the files that describe a project: its name, its scripts, and its dependencies.

They are parsed line by line: of a long file only the beginning and the end are in a message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from memfs.knowledge.facts.extraction.candidate import FactCandidate, build_candidate

_Reader = Callable[[str, str], Iterator[FactCandidate]]

_MOST = 10  # facts of one kind
_SCRIPTS = 15
_LONGEST = 240  # characters of a script
_USUAL = tuple("build test lint format typecheck check dev start fix verify release".split())
_JSON = re.compile(r'"([^"\\]{1,80})":\s*(?:"((?:[^"\\]|\\.)*)"|([{\[])|(\[[^\]]*\])|[\w.-]+),?')
_DEPENDS = ("dependencies", "devDependencies", "peerDependencies")
_TOML = re.compile(
    r"([\w.-]+|\"[^\"]+\")\s*=\s*(?:[\"']([^\"']*)[\"']|\{.*?version = \"([^\"]+)\")"
)
_SECTION = re.compile(r"\[{1,2}([^\[\]]+)\]{1,2}")
_LISTED = re.compile(r"[\"']([A-Za-z][\w.-]*)(?:\[[\w,-]+\])?\s*([=<>~!]=?\s*\d[^\"';]*)[\"'],?")
_GO = re.compile(r"(?:require )?([\w.-]+\.[a-z]+/\S+) (v\d\S*)(?: // (indirect))?")
_NUMBER = re.compile(r"\d")


def facts(path: str, text: str) -> list[FactCandidate]:
    """Return the facts in a manifest; the file name selects the format. Empty for other files."""
    name = path.rpartition("/")[2]
    read = _READERS.get(name) or (_parse_plugin if name in _PLUGINS else None)
    if "/workflows/" in path and name.endswith((".yml", ".yaml")):
        read = _parse_workflow
    return list(read(path, text)) if read else []


def skill(path: str, text: str) -> list[FactCandidate]:
    """Return the purpose of a skill or an agent, from the front matter of its file."""
    lines = text.split("\n")
    if lines[0].strip() != "---":
        return []
    fields: dict[str, str] = {}
    key = ""
    for line in lines[1:20]:
        if line.strip() == "---":
            break
        head = re.match(r"(name|description): *(.*)", line)
        if head:
            key = head[1]
            fields[key] = head[2].strip(" >|-\"'")
        elif line.startswith("  ") and key == "description":
            fields[key] = f"{fields[key]} {line.strip()}".strip()
        else:
            key = ""
    folder = path.split("/")[-2] if path.endswith("/SKILL.md") else ""
    name = folder or fields.get("name", "")
    about = re.split(r"(?<=[\w)`\"'])\.(?:\s|$)", fields.get("description", ""), maxsplit=1)[0]
    if not name or len(about.split()) < 4 or len(about) > 240:
        return []
    return [
        build_candidate(
            f"The skill `{name}`: {about}", "technical", 0.75, f"what the skill {name} is for"
        )
    ]


def _scan_json(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield (section, key, value) of the two outer levels of an object; "" is the outermost."""
    within: list[str] = []
    for line in text.split("\n"):
        part = line.strip()
        match = _JSON.fullmatch(part)
        if match and len(within) < 3:
            value = match[2] if match[2] is not None else match[4] or ""
            yield within[-1] if len(within) == 2 else "", match[1], value.replace('\\"', '"')
        if part.endswith(("{", "[")):
            within.append(match[1] if match else "")
        elif part.startswith(("}", "]")) and within:
            within.pop()


def _parse_package(path: str, text: str) -> Iterator[FactCandidate]:
    rows = list(_scan_json(text))
    top = {key: value for section, key, value in rows if not section}
    name = top.get("name", "")
    if not name:
        return
    yield from _describe_package(path, name, top)
    if top.get("packageManager"):
        manager = top["packageManager"]
        what = f"package manager of {name}"
        yield build_candidate(
            f"The package manager of `{name}` is `{manager}`", "environment", 0.85, what
        )
    if top.get("workspaces", "").startswith("["):
        listed = ", ".join(f"`{each}`" for each in re.findall(r'"([^"]+)"', top["workspaces"]))
        what = f"workspaces of {name}"
        yield build_candidate(f"The workspaces of `{name}` are {listed}", "technical", 0.8, what)
    scripts = [(key, value) for section, key, value in rows if section == "scripts"]
    scripts.sort(key=lambda row: _USUAL.index(row[0]) if row[0] in _USUAL else len(_USUAL))
    for key, value in scripts[:_SCRIPTS]:
        if value and len(value) <= _LONGEST and "`" not in value:
            yield _make_run(f"The script `{key}` of `{name}`", value, f"script {key} of {name}")
    for key, value in [(k, v) for section, k, v in rows if section == "engines"]:
        yield _make_dependency(name, key, value)
    depends = [(key, value) for section, key, value in rows if section in _DEPENDS]
    for key, value in [row for row in depends if _is_version(row[1])][:_MOST]:
        yield _make_dependency(name, key, value)


def _parse_plugin(path: str, text: str) -> Iterator[FactCandidate]:
    top = {key: value for section, key, value in _scan_json(text) if not section}
    if top.get("name"):
        yield from _describe_package(path, top["name"], top)


def _describe_package(path: str, name: str, top: dict[str, str]) -> Iterator[FactCandidate]:
    about, version = top.get("description", ""), top.get("version", "")
    if len(about.split()) > 2 and len(about) <= 240:
        yield build_candidate(f"`{name}`: {about}", "technical", 0.8, f"what {name} is")
    if _is_version(version) and not version.startswith("0.0.0"):
        what = f"version in {path}"
        yield build_candidate(f"`{name}` is at version {version} in `{path}`", "version", 0.8, what)


def _scan_toml(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield (section, key, value) of values on one line, and of lists of dependencies."""
    section = ""
    listing = False
    for line in text.split("\n"):
        part = line.strip()
        head = _SECTION.fullmatch(part)
        if head:
            section, listing = head[1], False
            continue
        value = _TOML.match(part)
        if value:
            yield section, value[1].strip('"'), value[2] if value[2] is not None else value[3]
        listing = part.startswith("dependencies = [") or (listing and not part.startswith("]"))
        if listing:
            for match in _LISTED.finditer(part):
                yield "dependencies", match[1], match[2].strip()


def _parse_pyproject(path: str, text: str) -> Iterator[FactCandidate]:
    rows = list(_scan_toml(text))
    top = {key: value for section, key, value in rows if section in ("project", "tool.poetry")}
    if not top.get("name"):
        return
    yield from _describe_package(path, top["name"], top)
    if top.get("requires-python"):
        yield _make_dependency(top["name"], "python", top["requires-python"])
    depends = ("dependencies", "tool.poetry.dependencies")
    listed = [row for row in rows if row[0] in depends and _is_version(row[2])]
    for _, key, value in listed[:_MOST]:
        yield _make_dependency(top["name"], key, value)
    for _, key, value in [row for row in rows if row[0] == "project.scripts"][:_MOST]:
        yield _make_run(f"The command `{key}` of `{top['name']}`", value, f"command {key}")


def _parse_cargo(path: str, text: str) -> Iterator[FactCandidate]:
    rows = list(_scan_toml(text))
    top = {key: value for section, key, value in rows if section == "package"}
    if not top.get("name"):
        return
    yield from _describe_package(path, top["name"], top)
    if top.get("rust-version"):
        yield _make_dependency(top["name"], "rust", top["rust-version"])
    listed = [row for row in rows if row[0] == "dependencies" and _is_version(row[2])]
    for _, key, value in listed[:_MOST]:
        yield _make_dependency(top["name"], key, value)


def _parse_go(_: str, text: str) -> Iterator[FactCandidate]:
    module = re.search(r"^module (\S+)", text, re.MULTILINE)
    if not module:
        return
    language = re.search(r"^go (\d\S*)", text, re.MULTILINE)
    if language:
        yield _make_dependency(module[1], "go", language[1])
    found = (_GO.fullmatch(line.strip()) for line in text.split("\n"))
    for match in [each for each in found if each and not each[3]][:_MOST]:
        yield _make_dependency(module[1], match[1], match[2])


def _parse_mise(_: str, text: str) -> Iterator[FactCandidate]:
    for section, key, value in _scan_toml(text):
        if section.startswith("tasks.") and key == "run":
            name = section.removeprefix("tasks.").strip('"')
            yield task(name, value)
        elif section == "tools" and _is_version(value):
            yield _make_dependency("the project", key, value)


def _parse_workflow(path: str, text: str) -> Iterator[FactCandidate]:
    name = re.search(r"^name: *[\"']?([^\"'\n#]{2,60})", text, re.MULTILINE)
    machines = dict.fromkeys(re.findall(r"^ +runs-on: ([\w.-]+)$", text, re.MULTILINE))
    if name and machines:
        listed = ", ".join(f"`{each}`" for each in machines)
        statement = f"The workflow `{name[1].strip()}` (`{path}`) has jobs on {listed}"
        yield build_candidate(statement, "technical", 0.8, f"machines of {path}")


def task(name: str, command: str) -> FactCandidate:
    """Return the fact that a named task runs a command."""
    return _make_run(f"The task `{name}`", command, f"task {name}")


def _make_run(what: str, command: str, key: str) -> FactCandidate:
    return build_candidate(f"{what} runs `{command}`", "technical", 0.85, key)


def _make_dependency(name: str, what: str, version: str) -> FactCandidate:
    whole = name if name.startswith("the ") else f"`{name}`"
    statement = f"{whole[0].upper()}{whole[1:]} depends on `{what}` {version}"
    return build_candidate(statement, "version", 0.85, f"version of {what} in {name}")


def _is_version(value: str) -> bool:
    return bool(_NUMBER.search(value)) and len(value) <= 40 and "/" not in value


_READERS: dict[str, _Reader] = {
    "package.json": _parse_package,
    "pyproject.toml": _parse_pyproject,
    "Cargo.toml": _parse_cargo,
    "go.mod": _parse_go,
    "mise.toml": _parse_mise,
    ".mise.toml": _parse_mise,
}
_PLUGINS = ("plugin.json", "composer.json", "manifest.json", "gemini-extension.json")
