"""What the shell completes from what is stored here."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memfs.cli.group import group
from memfs.store.blocks import Place
from tests.cli.conftest import SESSION, Run, write_session

Complete = Callable[[str], list[str]]


@pytest.fixture
def complete(
    place: Place, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Complete:
    """Return the words that bash offers behind a command line."""

    def run(line: str) -> list[str]:
        words = line.split(" ")
        capfd.readouterr()
        with monkeypatch.context() as shell:
            shell.setenv("COMP_WORDS", line)
            shell.setenv("COMP_CWORD", str(len(words) - 1))
            shell.setenv("_MEMFS_COMPLETE", "bash_complete")
            with pytest.raises(SystemExit):
                group().main(prog_name="memfs")
        return [each.partition(",")[2] for each in capfd.readouterr().out.split()]

    return run


def test_commands_and_those_in_groups(complete: Complete) -> None:
    assert complete("memfs se") == ["search", "session", "service"]
    assert complete("memfs session f") == ["forget"]


def test_the_script_of_a_shell(memfs: Run) -> None:
    assert "_MEMFS_COMPLETE=bash_complete" in memfs("completion", "bash").out


def test_labels_and_their_versions(complete: Complete, memfs: Run) -> None:
    memfs("edit", "human", "--append", "Prefers tea")
    assert complete("memfs show h") == ["human"]
    assert complete("memfs log sy") == ["system_rules"]
    assert complete("memfs show human@") == ["human@2", "human@1"]


def test_passages_sources_sessions_keys_and_facts(
    complete: Complete, memfs: Run, tmp_path: Path
) -> None:
    ident = json.loads(memfs("archive", "add", "A passage.", "--json").out)["id"]
    assert complete("memfs archive show ") == [ident]
    (tmp_path / "repo/docs").mkdir()
    memfs("source", "add", "docs", "docs")
    assert complete("memfs source sync d") == ["docs"]
    memfs("static", "add", "limits", "At most 100.")
    assert complete("memfs static show l") == ["limits"]
    said = ("user", "Never deploy the zephyr gateway on Fridays.")
    memfs("ingest", str(write_session(tmp_path / "said.jsonl", tmp_path / "repo", said)))
    assert complete("memfs session show 0") == [SESSION]
    memfs("facts", "extract")
    facts = json.loads(memfs("facts", "list", "--json").out)
    assert complete("memfs facts accept ") == [fact["id"] for fact in facts]
    assert facts


def test_nothing_where_there_is_no_store(
    complete: Complete, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    assert complete("memfs show h") == []
