"""A block that a project's own files make: short, true, and nothing that is said already."""

import json
import os
from pathlib import Path

import pytest

from memfs.core.records import Origin
from memfs.ops import check, draft, edit
from memfs.ops.edit import Edited
from memfs.store.blocks import Place
from tests.cli.conftest import Run
from tests.cli.conftest import memfs as memfs  # noqa: PLC0414 - a fixture
from tests.forked import MEMFS
from tests.ops import clones
from tests.terminal import type_into

PACKAGE = {
    "packageManager": "pnpm@9.15.0",
    "engines": {"node": ">=20"},
    "scripts": {"build": "tsc", "test": "vitest", "lint": "eslint .", "lint:css": "x", "x;y": "z"},
}
PYPROJECT = """\
[project]
requires-python = ">=3.11,<4"
[tool.pytest.ini_options]
[tool.ruff]
[tool.mypy]
"""
OWNERS = """\
# comment
* @acme/core me@acme.example
/api/  @acme/api
*.sql @acme/data
/gone/ @acme/gone
docs/** rita@acme.example
"""
FILES = {
    "package.json": json.dumps(PACKAGE),
    "pnpm-lock.yaml": "",
    ".nvmrc": "v22.1\n",
    "pyproject.toml": PYPROJECT,
    "uv.lock": "",
    "go.mod": "module x\n\ngo 1.22\n",
    "Cargo.toml": '[package]\nrust-version = "1.80"\n',
    "Makefile": "test: x\n\techo\nlint:\n\techo\ndocs:\n\techo\n",
    "api/a.py": "",
    ".github/CODEOWNERS": OWNERS,
}
DRAFT = """\
- Packages: `pnpm install` (source: `pnpm-lock.yaml`)
- Python packages: `uv sync` (source: `uv.lock`)
- Node 22.1 (source: `.nvmrc`)
- Node >=20 (source: `package.json`)
- Python >=3.11 (source: `pyproject.toml`)
- Go >=1.22 (source: `go.mod`)
- Rust >=1.80 (source: `Cargo.toml`)
- Commands: `pnpm run test`, `pnpm run lint`, `pnpm run build` (source: `package.json`)
- Commands: `make docs` (source: `Makefile`)
- Python: tests with pytest; lint with ruff; types with mypy (source: `pyproject.toml`)
- Owners: by default @acme/core; `api/` @acme/api; more there (source: `.github/CODEOWNERS`)
"""
AGENTS = """\
Use `pnpm`, never npm: `pnpm test`, `pnpm run lint`. Needs Node 22 and Python 3.11.
Tests run with pytest. `make docs` builds the docs; uv installs the rest.
"""


@pytest.fixture
def shop(repo: Path, place: Place) -> Path:
    commit(repo, FILES)
    return repo


def commit(repo: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text(text)
    clones.commit(repo)


def render(place: Place) -> str:
    return "".join(f"{line.render()}\n" for line in draft.run(place))


def test_each_line_names_its_source_and_can_be_checked(shop: Path, place: Place) -> None:
    assert render(place) == DRAFT
    made = edit.run(place, [draft.make_edit(draft.run(place))], Origin())
    assert isinstance(made, Edited)
    assert check.run(place).findings == ()
    commit(shop, {"package.json": json.dumps({"scripts": {"test": "x"}}), ".nvmrc": "24\n"})
    (shop / "api/a.py").unlink()
    (shop / "api").rmdir()
    commit(shop, {"go.mod": "module x\n\ngo 1.26\n"})
    assert [(each.state, each.said) for each in check.run(place).findings] == [
        ("contradicted", "Node 22.1"),
        ("contradicted", "Go >=1.22"),
        ("gone", "pnpm run lint"),
        ("gone", "pnpm run build"),
        ("gone", "api/"),
    ]


def test_what_an_instruction_file_says_is_left_out(shop: Path, place: Place) -> None:
    commit(shop, {"AGENTS.md": AGENTS})
    left = [line for line in DRAFT.splitlines() if line.startswith(("- Go", "- Rust", "- Owners"))]
    assert render(place).splitlines() == [
        "- Instructions for assistants: `AGENTS.md`",
        *left[:2],
        "- Commands: `pnpm run build` (source: `package.json`)",
        "- Python: lint with ruff; types with mypy (source: `pyproject.toml`)",
        left[2],
    ]
    commit(shop, {"CLAUDE.md": "@AGENTS.md"})
    assert "Instructions" not in render(place)


@pytest.mark.parametrize(
    ("files", "lines"),
    [
        ({}, []),
        ({"package.json": "{", "pyproject.toml": "[", "go.mod": "x"}, []),
        ({"package.json": '{"scripts": {"test": "echo no test specified && exit 1"}}'}, []),
        ({"package.json": '{"engines": {"node": "^18 || ^20"}}'}, []),
        ({"yarn.lock": "", "package-lock.json": ""}, []),  # which one?
        ({"poetry.lock": "", "pyproject.toml": ""}, []),  # of another time
        ({"package.json": '{"scripts": {"test": "x"}}'}, ["- Commands: `npm run test`"]),
        ({"justfile": "test *args:\n  x\n"}, ["- Commands: `just test`"]),
    ],
)
def test_what_is_not_certain_makes_no_line(
    repo: Path, place: Place, files: dict[str, str], lines: list[str]
) -> None:
    commit(repo, {"README.md": "x", **files})
    assert [line.partition(" (")[0] for line in render(place).splitlines()] == lines


def test_it_has_at_most_1500_characters(repo: Path, place: Place) -> None:
    owners = "".join(f"/d{number}/ @{'x' * 50}\n" for number in range(99))
    folders = {f"d{number}/x": "" for number in range(99)}
    commit(repo, {**FILES, **folders, ".github/CODEOWNERS": owners})
    assert "; more there (source" in render(place)
    assert len(render(place)) <= 1500


def test_it_is_shown_and_written_only_with_a_yes(shop: Path, memfs: Run, place: Place) -> None:
    assert "- Go" not in memfs("init", "-y").err
    shown = memfs("init", "--from-project").err
    assert "  - Go >=1.22 (source: `go.mod`)\n" in shown
    assert "The block was not written. To write it: memfs init --from-project -y" in shown
    assert not draft.is_written(place)
    assert "project:project_setup version 1: create" in memfs("init", "--from-project", "-y").err
    assert "- Go >=1.22" in memfs("show", "project_setup").out
    assert "already exists" in memfs("init", "--from-project").err


def test_a_project_with_commits_and_no_sessions_is_asked(
    shop: Path, place: Place, memfs: Run
) -> None:

    _, shown = type_into([*MEMFS, "init"], "n\n", shop, os.environ)
    assert "Write these lines to the block 'project_setup'? [Y/n]" in shown
    assert not draft.is_written(place)
    session = Path(place.home.local, "recall/claude/s1.jsonl")
    session.parent.mkdir(parents=True)
    session.write_text("")
    assert not draft.is_due(place)
    assert "nothing more" not in type_into([*MEMFS, "init"], "n\n", shop, os.environ)[1]
