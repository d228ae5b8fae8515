"""`memfs archive`: passages are kept, listed, changed and removed."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memfs.store.blocks import Place
from tests.cli.conftest import Run


@pytest.fixture
def ident(place: Place, memfs: Run) -> str:
    done = memfs("archive", "add", "We chose Postgres.", "-t", "db", "--json")
    return str(json.loads(done.out)["id"])


def test_they_are_listed_by_tag_and_shown(memfs: Run, ident: str) -> None:
    memfs("archive", "add", "Green tea at 70 degrees.")
    listed = memfs("archive", "list", "--tag", "db").out.splitlines()
    assert listed[0].split() == ["ID", "DAY", "TIER", "WEIGHT", "TEXT"]
    assert listed[1].startswith(ident[-8:])
    assert listed[1].endswith("We chose Postgres. #db")
    assert len(json.loads(memfs("archive", "list", "--json").out)) == 2
    assert memfs("archive", "list", "-n", "1").err == "1 of 2 passages; -n 0 shows all\n"
    assert memfs("archive", "show", ident[-8:]).out == "We chose Postgres.\n"
    assert memfs("archive", "show", "zz").err == (
        "error: there is no passage with the id 'zz'\nhint: list the ids: memfs archive list\n"
    )


def test_one_is_changed_and_keeps_its_id(memfs: Run, ident: str) -> None:
    done = memfs("archive", "edit", ident, "--set", "We chose Postgres 17.", "-i", "7")
    assert done.err == f"✓ changed {ident}\n"
    found = json.loads(memfs("archive", "show", ident, "--json").out)
    assert (found["text"], found["importance"], found["tags"]) == (
        "We chose Postgres 17.", 7, ["db"],
    )  # fmt: skip
    assert memfs("archive", "edit", ident, "-i", "7").err == f"✓ {ident} is unchanged\n"
    other = json.loads(memfs("archive", "add", "Another.", "--json").out)["id"]
    twin = memfs("archive", "edit", other, "--set", "we chose  postgres 17.")
    assert (twin.code, twin.err.splitlines()[0]) == (
        1,
        f"error: another passage ({ident}) already has this text",
    )
    assert memfs("archive", "edit", ident, "--set", "key: ghp_" + "a1B2" * 9).code == 1


def test_an_editors_text_that_is_refused_is_kept(
    memfs: Run, ident: str, editor: Callable[[str], None]
) -> None:
    editor('echo "We chose SQLite." >"$1"')
    assert memfs("archive", "edit", ident).code == 0
    assert memfs("archive", "show", ident).out == "We chose SQLite.\n"
    editor(f'echo "key: ghp_{"a1B2" * 9}" >"$1"')
    refused = memfs("archive", "edit", ident)
    assert refused.code == 1
    kept = Path(refused.err.rpartition("recover your text from ")[2].strip())
    assert "ghp_" in kept.read_text()
    kept.unlink()


def test_one_is_removed_by_a_person_who_says_yes(
    memfs: Run, ident: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert memfs("archive", "rm", ident).code == 2
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s1")
    assert memfs("archive", "rm", ident, "-y").code == 1
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID")
    assert memfs("archive", "rm", ident, "-y").err == f"✓ removed {ident}\n"
    assert memfs("archive", "list").out == ""
    assert "Postgres" not in memfs("search", "Postgres", "--nearest").out


def test_without_a_projects_store_it_says_where_it_writes(
    memfs: Run, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memfs("init")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    told = "writing to your own store, ~/.agent-memory: there is no project store here\n"
    assert memfs("archive", "add", "A passage.").err.startswith(told)
    assert memfs("create", "notes").err.startswith(told)
    assert not memfs("archive", "add", "Another.", "--user").err.startswith(told)
