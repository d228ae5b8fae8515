"""What a project's manifests say: scripts, packages, package managers and versions."""

import json
import re
from collections.abc import Mapping
from typing import NamedTuple

LOCKS = {
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "bun.lock": "bun",
    "bun.lockb": "bun",
}
_TARGET = re.compile(r"^([A-Za-z][\w.\-/ \t]*):(?![=:])", re.MULTILINE)
_RECIPE = re.compile(r"^@?([A-Za-z][\w\-]*)(?: [^:\n]*)?:(?!=)", re.MULTILINE)
_NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,9}){0,2}")
_LONGEST = 200  # letters of a range
_REQUIREMENT = re.compile(r"^\s*([A-Za-z0-9][\w.\-]*)\s*(?:\[[^\]]*\])?\s*([^;#]*)")
PINNED = {
    ".nvmrc": "node",
    ".node-version": "node",
    ".python-version": "python",
    ".ruby-version": "ruby",
    ".go-version": "go",
    ".java-version": "java",
}


class Manifest(NamedTuple):
    """The scripts of a file, and the ranges of versions it asks for (`>=3.11`, `^18.2.0`, `22`)."""

    scripts: Mapping[str, str] = {}
    versions: Mapping[str, str] = {}


def read_manifest(name: str, text: str) -> Manifest | None:
    """Read a manifest by the last part of its path; None for a file that is none."""
    if name == "package.json":
        return _read_package(text)
    if name == "pyproject.toml":
        return _read_pyproject(text)
    if name == "Cargo.toml":
        match = re.search(r'^rust-version\s*=\s*"(\d+\.\d+(?:\.\d+)?)"', text, re.MULTILINE)
        return Manifest({}, {"rust": f">={match[1]}"} if match else {})
    if name in ("Makefile", "makefile", "GNUmakefile"):
        targets = {word for match in _TARGET.findall(text) for word in match.split()}
        return Manifest(dict.fromkeys(targets, ""))
    if name in ("justfile", "Justfile", ".justfile"):
        return Manifest(dict.fromkeys(_RECIPE.findall(text), ""))
    if name in PINNED:
        number = _NUMBER.search(text)
        return Manifest({}, {PINNED[name]: number[0]} if number else {})
    if name == ".tool-versions":
        pairs = (line.split()[:2] for line in text.splitlines() if len(line.split()) > 1)
        return Manifest(
            {}, {fold_name(tool): found for tool, found in pairs if _NUMBER.match(found)}
        )
    if name == "go.mod":
        match = re.search(r"^go (\d+\.\d+(?:\.\d+)?)", text, re.MULTILINE)
        return Manifest({}, {"go": f">={match[1]}"} if match else {})
    if name == "requirements.txt":
        return Manifest({}, dict(filter(None, map(_split_requirement, text.splitlines()))))
    return None


def is_manifest(name: str) -> bool:
    """Tell whether `read_manifest` reads files of this name."""
    return read_manifest(name, "") is not None


def contradicts(said: str, least: bool, wanted: str) -> bool:
    """Tell whether a version that a text gives is older than the range of a manifest allows.

    Only as many parts as both give are compared. A newer one is that of something else with the
    name: projects go on. `least` (18+) holds beside a later version that is not itself the least.
    """
    bounds = re.findall(r"([<>^~=!]*)\s?v?(\d{1,9}(?:\.\d{1,9}){0,2})", wanted)
    if not bounds or "||" in wanted or "*" in wanted:
        return False
    sign, number = bounds[0]
    if sign[:1] in ("<", "!") or (least and sign not in (">=", ">")):
        return False
    own, asked = _split_number(said), _split_number(number)
    length = 1 if sign in ("^", "~", "~=") else min(len(own), len(asked))
    return own[:length] < asked[:length]


def _split_number(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def fold_name(name: str) -> str:
    """Return the name under which versions are compared: Node.js and nodejs are node."""
    low = name.lower().replace("_", "-").removesuffix(".js")
    return {"nodejs": "node", "golang": "go", "nextjs": "next"}.get(low, low)


def _read_package(text: str) -> Manifest:
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return Manifest()
    if not isinstance(found, dict):
        return Manifest()
    versions: dict[str, str] = {}
    for key in ("peerDependencies", "optionalDependencies", "devDependencies", "dependencies"):
        versions |= {
            fold_name(name): asked for name, asked in _pairs(found.get(key)) if _is_range(asked)
        }
    engines = dict(_pairs(found.get("engines")))
    versions |= {fold_name(name): asked for name, asked in engines.items() if _is_range(asked)}
    manager = found.get("packageManager")
    if isinstance(manager, str) and "@" in manager:
        name, _, number = manager.partition("@")
        versions[name] = number.partition("+")[0]
    return Manifest(dict(_pairs(found.get("scripts"))), versions)


def _read_pyproject(text: str) -> Manifest:
    import tomllib  # slow, and few projects have one

    try:
        found = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return Manifest()
    project = found.get("project")
    project = project if isinstance(project, dict) else {}
    listed = project.get("dependencies")
    lines = [line for line in listed if isinstance(line, str)] if isinstance(listed, list) else []
    versions = dict(filter(None, map(_split_requirement, lines)))
    asked = project.get("requires-python")
    if isinstance(asked, str):
        versions["python"] = asked
    return Manifest({}, versions)


def _split_requirement(line: str) -> tuple[str, str] | None:
    match = _REQUIREMENT.match(line)
    return (fold_name(match[1]), match[2].strip()) if match and _is_range(match[2]) else None


def _is_range(text: str) -> bool:
    return (
        len(text) <= _LONGEST and bool(_NUMBER.search(text)) and ":" not in text and "/" not in text
    )


def _pairs(found: object) -> list[tuple[str, str]]:
    if not isinstance(found, dict):
        return []
    return [(key, value) for key, value in found.items() if isinstance(value, str)]
