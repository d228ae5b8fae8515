"""Arguments that are not allowed: errors of memfs that name what is."""

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

import memfs
from memfs import Filter, Memory
from memfs.hosts import RECORDED

pytestmark = pytest.mark.usefixtures("place")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"query": ""}, "the query is empty"),
        ({"query": None}, "the query is None, expected a string"),
        ({"mode": "fuzzy"}, "mode is 'fuzzy', expected hybrid, text or semantic"),
        ({"limit": 0}, "limit is 0, expected 1 to 10,000"),
        ({"limit": "5"}, "limit is '5', expected 1 to 10,000"),
        ({"page": True}, "page is True, expected 1 to 10,000"),
        ({"page": 2**70}, f"page is {2**70}, expected 1 to 10,000"),
        ({"since": "soon"}, "'soon' is not a date"),
        ({"until": 5}, "'5' is not a date"),
        ({"only": {}}, "'only' is {}, expected a Filter"),
        ({"only": {}, "since": "7d"}, "'only' is {}, expected a Filter"),
        (
            {"only": Filter(kinds=("recall",))},
            "kinds has 'recall', expected message, passage, block, fact, static, source or commit",
        ),
        ({"only": Filter(roles=("me",))}, "roles has 'me', expected user, assistant or tool"),
        (
            {"only": Filter(hosts=("cluade",))},
            f"hosts has 'cluade', expected {', '.join(RECORDED[:-1])} or {RECORDED[-1]}",
        ),
        ({"only": Filter(tags="http")}, "tags is 'http', expected a list of strings"),  # type: ignore[arg-type]
        ({"only": Filter(sessions=(1,))}, "sessions is (1,), expected a list of strings"),  # type: ignore[arg-type]
        ({"only": Filter(importance=11)}, "importance is 11, expected 0 to 10"),
        (
            {"only": Filter(since="2026-05-03")},  # type: ignore[arg-type]
            "since is '2026-05-03', expected seconds since 1970",
        ),
        ({"only": Filter(until=2**80)}, f"until is {2**80}, expected seconds since 1970"),
    ],
)
@pytest.mark.parametrize("search", [Memory.search, Memory.sessions])
def test_a_search(search: Callable[..., object], given: dict[str, object], message: str) -> None:
    with pytest.raises(memfs.UsageError) as caught:
        search(memfs.open("."), **{"query": "retries", **given})
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.facts("("), "'(' is not a valid regular expression: missing ), unterminated"),
        (lambda m: m.facts(since="7d"), "'7d' is not a date"),
        (lambda m: m.facts(categories=["rules"]), "categories has 'rules', expected one of pref"),
        (lambda m: m.facts(categories="rule"), "categories is 'rule', expected a list of strings"),
        (lambda m: m.facts(statuses=["gone"]), "statuses has 'gone', expected one of active, sup"),
        (lambda m: m.facts(min_confidence=7), "the confidence is 7, expected 0 to 1"),
        (lambda m: m.facts(min_confidence="7"), "the confidence is '7', expected 0 to 1"),
        (lambda m: m.accept_fact("abc"), "the id 'abc' matches no fact"),
        (lambda m: m.list_sessions(-1), "limit is -1, expected 1 or more"),
        (lambda m: m.read_session("abc"), "there is no session 'abc'"),
        (
            lambda m: m.outcome("abc", "good"),
            "the outcome is 'good', expected 'worked' or 'failed'",
        ),
        (lambda m: m.outcome("", "worked"), "no session has the id "),
        (lambda m: m.archive("a", importance="5"), "importance is '5', expected 1 to 10"),
        (lambda m: m.archive("a", tags="http"), "tags is 'http', expected a list of strings"),
        (lambda m: m.context("a", budget=-5), "-5 tokens are too few"),
        (lambda m: m.ingest("nowhere"), "there is no file or folder nowhere"),
        (lambda m: m.export("nowhere/a.zip"), "there is no folder /"),
        (lambda m: m.import_("a.zip"), "there is no file a.zip"),
        (
            lambda m: m.import_("a.zip", pin=True),
            "'pin' works only for files from other tools, not for an export",
        ),
        (lambda m: m.show("human", "abc"), "'human' has no version or commit abc"),
    ],
)
def test_other_operations(call: Callable[[Any], object], message: str) -> None:
    with pytest.raises(memfs.MemfsError) as caught:
        call(memfs.open("."))
    assert caught.value.message.startswith(message)


def test_days_beside_a_filter() -> None:
    memory = memfs.open(".")
    memory.archive("We chose httpx over requests.")  # on the tests' day
    only = Filter(kinds=("passage",))
    for since, until, count in (("2026-05-03", "2026-05-03", 1), ("2026-05-04", "", 0)):
        assert len(memory.search("httpx", only=only, since=since, until=until)) == count
    day = date(2026, 5, 3)
    assert memory.search("httpx", since=day, until=day)
    assert not memory.search("httpx", until=day - timedelta(days=1))


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(memfs.NotFoundError) as caught:
        memfs.open(tmp_path / "nowhere")
    assert caught.value.message == f"there is no folder {tmp_path}/nowhere"
    assert caught.value.hint == "check the path, or create the folder"
    path = tmp_path / "file"
    path.touch()
    with pytest.raises(memfs.UsageError, match="is not a folder") as wrong:
        memfs.open(path)
    assert wrong.value.hint == f"open the file's folder: {tmp_path}"
