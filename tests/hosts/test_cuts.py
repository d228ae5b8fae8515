"""What is cut has no secrets any more: of one that a cut goes through nothing is kept."""

import json
from pathlib import Path

import pytest

from memfs.core.privacy import excerpt, storable
from memfs.core.records import Identity
from memfs.hosts import jsonl
from memfs.ingest import workers
from memfs.ingest.workers import TranscriptPart
from memfs.tools import registry
from memfs.tools.arguments import check_arguments
from tests.hosts.transcript_lines import SESSION, line

TOKEN = "ghp_" + "R4nd0mT0k3nWh0s3V4lu3Is0fN0U53AtA11x"  # made up for this test
PARTS = [TOKEN[at : at + 8] for at in range(len(TOKEN) - 7)]
BEFORE = range(len(TOKEN) + 8)


def leaks(text: str) -> bool:
    """Tell whether eight characters of the token in a row are in a text."""
    return any(part in storable(text) for part in PARTS)


@pytest.mark.parametrize("shift", BEFORE)
def test_a_value_of_a_call_is_cut_without_halving_a_secret(shift: int) -> None:
    value = "w " * 500
    value = value[: 1000 - shift] + f" {TOKEN} and more {value}"
    assert not leaks(jsonl.call({"command": value}))
    assert not leaks(jsonl.arguments(json.dumps({"command": value})))
    assert not leaks(jsonl.call({"command": [value]}))


@pytest.mark.parametrize("shift", BEFORE)
@pytest.mark.parametrize("edge", ["head", "tail"])
def test_a_result_is_cut_without_halving_a_secret(shift: int, edge: str) -> None:
    cut = jsonl.cap("w " * 5000).partition("\n…")
    at = len(cut[0]) if edge == "head" else len(cut[2].partition("…\n")[2])
    before, after = "w " * 5000, "w " * 5000
    if edge == "head":
        text = f"{before[: at - shift]} {TOKEN} {after}"
    else:
        text = f"{before} {TOKEN} {after[: at - shift]}"
    assert len(jsonl.cap(text).encode()) <= jsonl.TOOL_CAP
    assert not leaks(jsonl.cap(text))


def test_a_private_part_whose_beginning_is_cut_away_is_left_out() -> None:
    text = f"a\n<private>{'secret plan ' * 2000}</private>\nz"
    assert jsonl.cap(text) == "a\n\nz"
    assert jsonl.call({"x": f"<private>{'secret plan ' * 200}</private>z"}) == "x:z"


def test_what_is_short_enough_without_secrets_is_not_cut() -> None:
    text = f"{TOKEN} " * 80
    assert jsonl.cap(text).count("[redacted:") == 80
    assert "left out" not in jsonl.cap("w " * 1400 + text[:400])
    assert "…" not in jsonl.call({"x": ("w " * 450 + TOKEN + " " + TOKEN + " " + TOKEN)[:1020]})


@pytest.mark.parametrize("shift", [0, 1, 20, 39, 40])
def test_nothing_of_a_secret_is_in_what_is_kept(tmp_path: Path, shift: int) -> None:
    command = ("echo " * 200)[: 1000 - shift] + f" {TOKEN} " + "x " * 900
    printed = ("out " * 1000)[: 2000 - shift] + f" {TOKEN} " + "y " * 4000
    use = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": command}}
    put = {"type": "tool_result", "tool_use_id": "t", "content": printed}
    data = line("assistant", [use], "a") + line("user", [put], "b")
    path = tmp_path / "t.jsonl"
    path.write_bytes(data)
    found = workers.read(
        TranscriptPart("claude", Identity(SESSION, ""), str(path), 0, len(data), True)
    )
    assert isinstance(found, workers.TranscriptRead)
    assert len(found.rows.lines) == 2
    told = "".join([*(each.decode() for each in found.rows.lines), *found.documents])
    assert not leaks(told)


@pytest.mark.parametrize("shift", BEFORE)
def test_an_excerpt_halves_no_secret(shift: int) -> None:
    text = f"{('w ' * 100)[: 100 - shift]} {TOKEN} more"
    assert not leaks(excerpt(text, 100))
    assert excerpt("short", 100) == "short"


def test_a_refusal_repeats_no_half_of_a_secret() -> None:
    """What a tool answers is in the transcript, too."""
    tool = registry.built_in()["conversation_search"]
    for given in (
        {"query": "x", "role": f"say {TOKEN}"},
        {"query": "x", "limit": f"some {TOKEN}"},
        {f"{'x' * 50} {TOKEN}": 1},
    ):
        told = check_arguments(tool, given)
        assert isinstance(told, str)
        assert not leaks(told)
