"""What a prompt brings to mind by words and meaning: what it is about, or nothing."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core.records import Message, Origin
from memfs.knowledge.facts import fact_store, prose
from memfs.knowledge.kinds.static import put
from memfs.ops import archive
from memfs.recall import index_sources, prompts
from memfs.recall.open_store import OpenStore
from memfs.search import prompt_relevance
from memfs.search.engine import Engine
from memfs.search.prompt_relevance import PromptHit
from memfs.store.blocks import Place
from tests.examples import examples
from tests.search.stores import Corpus, document, session

Found = Sequence[PromptHit]
Brings = Callable[[str, str, list[str], int], Found]

SAID = "the flaky login test fails because the clock is not frozen"
FIXED = "I froze the clock with freezegun in the login tests, so that they are no longer flaky."
PROMPT = "why is the login test so flaky? is the clock frozen?"
TEXTS = {
    "backup": "Backups of the postgres database run at three in the night and are kept for a month.",
    "retry": "Requests to the payment provider are retried three times with exponential backoff.",
    "colour": "The header of the customer portal is dark blue, its links are orange.",
    "deploy": "Kubernetes deployments are rolled out by helm charts from the staging cluster.",
    "cache": "Sessions are cached in redis and expire after twenty minutes of silence.",
    "name": "getUserName returns the display name, falls back to the e-mail address.",
    "queue": "The worker takes invoices from the rabbitmq queue, one at a time.",
    "cjk": "データベースの接続は五秒でタイムアウトします",
}
TALK = [
    "ok go on",
    "thanks, commit it",
    "fix the tests",
    "run the linter again",
    "yes",
    "lgtm",
    "no, that's wrong, try again",
    "what did we do last week?",
    "now write tests for it",
    "please check the code again and fix the errors",
    "why did you do that?",
]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    corpus = Corpus(tmp_path_factory.mktemp("relevance"))
    corpus.write("old.jsonl", *session("old", 1, [("user", SAID), ("assistant", FIXED)]))
    corpus.write("now.jsonl", *session("now", 2, [("user", "frozen clock, flaky login tests")]))
    corpus.write("tool.jsonl", *session("cli", 3, [("tool", "login clock frozen flaky test")]))
    corpus.write("block.jsonl", document("block", "flaky login clock frozen test", kind="block"))
    for name, text in TEXTS.items():
        corpus.write(f"{name}.jsonl", document(name, text, kind="passage", time="2026-05-03"))
    corpus.update(embed=True)
    return corpus


def warmly(corpus: Corpus, *, words: bool = False) -> Brings:
    engine = Engine(corpus.engine().text, None) if words else corpus.engine()

    def brings(prompt: str, session: str, shown: list[str], limit: int) -> Found:
        return prompts.recall_warm(engine, prompt, session, shown, limit).found

    return brings


@pytest.fixture(scope="module")
def brings(corpus: Corpus) -> Brings:
    return warmly(corpus)


@pytest.fixture(scope="module", params=["meaning", "words"])
def each_way(request: pytest.FixtureRequest, corpus: Corpus) -> Brings:
    return warmly(corpus, words=request.param == "words")


def ids(
    brings: Brings,
    prompt: str,
    session: str = "now",
    shown: list[str] | None = None,
    limit: int = 3,
) -> list[str]:
    return [hit.id for hit in brings(prompt, session, shown or [], limit)]


def test_a_first_session_is_brought_what_others_say_from_then_on(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    corpus.write("block.jsonl", document("block", SAID, kind="block"))
    corpus.write("now.jsonl", *session("now", 1, [("user", SAID)]))
    corpus.update(embed=True)
    engine = corpus.engine()
    assert prompt_relevance.look_up(engine, PROMPT, "now") is None
    assert prompt_relevance.look_up(engine, PROMPT, "\ud800") is not None
    assert prompt_relevance.look_up(engine, PROMPT, "") is not None
    assert ids(warmly(corpus), PROMPT) == []
    other = corpus.write("old.jsonl", *session("old", 2, [("user", FIXED)]))
    corpus.update(embed=True)
    assert ids(warmly(corpus), PROMPT) == ["old-0"]
    corpus.append("now.jsonl", *session("now", 1, [("user", "one"), ("user", "two")]))
    other.unlink()
    corpus.update(embed=True)
    assert ids(warmly(corpus), PROMPT) == []
    assert prompt_relevance.look_up(corpus.engine(), PROMPT, "now") is None
    assert prompt_relevance.look_up(corpus.engine(), PROMPT, "old") is not None


@pytest.mark.parametrize(
    ("prompt", "ident"),
    [
        (PROMPT, "old-0"),
        ("how often is a payment request retried?", "retry"),
        ("which colour do the links of the customer portal have?", "colour"),
        ("how long until redis sessions expire?", "cache"),
        ("what does getUserName fall back to?", "name"),
        ("when are the database backups made?", "backup"),
        ("データベースの接続のタイムアウトは何秒ですか", "cjk"),
    ],
)
def test_what_a_prompt_is_about_comes_back(brings: Brings, prompt: str, ident: str) -> None:
    assert ids(brings, prompt)[0] == ident


@pytest.mark.parametrize("prompt", TALK)
def test_talk_about_the_work_brings_nothing(brings: Brings, prompt: str) -> None:
    assert ids(brings, prompt, session="") == []


@pytest.mark.parametrize(
    "prompt",
    [
        "implement quicksort in Haskell",
        "frozen yoghurt recipe with mango coconut and lime for the party on sunday",
        "the header of the png parser reads the wrong chunk length",
        "three planets rotate around the wrong axis in the renderer",
        "what is the capital of Mongolia?",
        "redis",
        "frozen",
        "clock clock clock",
        "",
        "   ",
        "???",
        "the",
    ],
)
def test_what_is_about_something_else_brings_nothing(brings: Brings, prompt: str) -> None:
    assert ids(brings, prompt, session="") == []


def test_a_stack_trace_of_another_project_brings_nothing(brings: Brings) -> None:
    frames = "".join(
        f'  File "/srv/warehouse/{name}.py", line {line}, in {name}\n    return self.{name}(pallet)\n'
        for line, name in enumerate(["assign_lane", "drive_to", "scan_barcode", "advance"] * 40)
    )
    assert ids(brings, f"Traceback (most recent call last):\n{frames}JammedError: lane 7") == []


@pytest.mark.parametrize("count", [1, 10, 60])
def test_a_small_store_does_not_bring_back_everything(tmp_path: Path, count: int) -> None:
    corpus = Corpus(tmp_path)
    texts = [f"{text} ({n})" for n in range(count // len(TEXTS) + 1) for text in TEXTS.values()]
    corpus.write("all.jsonl", *(document(f"p{n}", texts[n], kind="passage") for n in range(count)))
    corpus.update(embed=True)
    brings = warmly(corpus)
    for prompt in [*TALK, "implement quicksort in Haskell", "rename the class of the png parser"]:
        assert ids(brings, prompt) == []
    assert ids(brings, "when are the postgres database backups made?")


def test_an_empty_store_has_nothing_to_say(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    corpus.update(embed=True)
    assert ids(warmly(corpus), PROMPT) == []


def test_a_hit_says_when_it_was_and_why_it_is_there(brings: Brings) -> None:
    (hit,) = brings(PROMPT, "now", [], 1)
    assert (hit.kind, hit.role, hit.host, hit.at) == (
        "message",
        "session old",
        "claude",
        "2026-05-01T10:00:00Z",
    )
    assert hit.snippet == f"user: {SAID}\nassistant: {FIXED}"
    assert hit.reason.startswith("words: ")


def test_what_is_about_a_file_that_the_prompt_names_comes_first(place: Place) -> None:
    for text in (
        "Invoices of couriers round each line half up, says the courier contract.",
        "In src/courier.py couriers have no rounding of invoices: the ledger does it.",
    ):
        archive.run(place, text, importance=5, tags=(), origin=Origin())
    index_sources.sync(place, embed=False)
    prompt = "how do couriers round invoices of the courier contract, half up"
    orders = [
        ["src/courier.py" in hit.snippet for hit in prompts.recall(place, [], text, [], 5).found]
        for text in (f"{prompt}?", f"{prompt} in (lib/courier.py:12)?")
    ]
    assert orders == [[False, True], [True, False]]


def test_of_one_exchange_only_the_best_comes(brings: Brings) -> None:
    assert len({"old-0", "old-1"} & set(ids(brings, PROMPT))) == 1


def test_tools_and_blocks_are_left_out(each_way: Brings) -> None:
    for prompt in (PROMPT, "login clock frozen flaky test"):
        assert not {"cli-0", "block"} & set(ids(each_way, prompt, session=""))


def test_the_running_session_is_left_out(each_way: Brings) -> None:
    prompt = "is the clock frozen, for the flaky logins?"
    assert "now-0" not in ids(each_way, prompt)
    for running in ("other", "", "\ud800"):
        assert "now-0" in ids(each_way, prompt, session=running)


def test_a_long_running_session_does_not_hide_what_was_said_before(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    turns = [("user", f"the flaky login test {n}: is its clock {n} frozen?") for n in range(40)]
    corpus.write("now.jsonl", *session("now", 2, turns))
    corpus.write("old.jsonl", *session("old", 1, [("assistant", FIXED)]))
    corpus.update(embed=True)
    assert ids(warmly(corpus), PROMPT) == ["old-0"]


def test_what_tools_put_out_does_not_hide_what_was_said(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    turns = [("tool", f"flaky login test {n}: clock {n} is not frozen") for n in range(30)]
    corpus.write("cli.jsonl", *session("cli", 2, turns))
    corpus.write("old.jsonl", *session("old", 1, [("assistant", FIXED)]))
    corpus.update(embed=True)
    assert ids(warmly(corpus), PROMPT) == ["old-0"]


def test_blocks_do_not_hide_a_passage(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    blocks = (document(f"b{n}", f"{PROMPT} {n}", kind="block") for n in range(12))
    corpus.write("all.jsonl", *blocks, document("old-0", FIXED, kind="passage"))
    corpus.update(embed=True)
    assert ids(warmly(corpus), PROMPT) == ["old-0"]


def test_what_was_shown_is_left_out(each_way: Brings) -> None:
    first = ids(each_way, PROMPT)
    assert first
    assert not set(first) & set(ids(each_way, PROMPT, shown=first))
    assert ids(each_way, PROMPT, shown=["old-0", "old-1"]) == []


def _copies(folder: Path, *texts: str) -> Brings:
    corpus = Corpus(folder)
    others = [document(name, text, kind="passage") for name, text in TEXTS.items()]
    mine = [document(f"c{n}", text, kind="passage") for n, text in enumerate(texts)]
    corpus.write("all.jsonl", *others, *mine)
    corpus.update(embed=True)
    return warmly(corpus)


def test_what_says_nearly_the_same_comes_once(tmp_path: Path) -> None:
    brings = _copies(tmp_path, FIXED, FIXED + " Done.", "Really: " + FIXED)
    assert len(ids(brings, PROMPT)) == 1
    assert ids(brings, PROMPT, shown=ids(brings, PROMPT)) == []


def test_what_a_person_asked_before_is_no_answer(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    corpus.write("old.jsonl", *session("old", 2, [("user", PROMPT), ("assistant", FIXED)]))
    corpus.write("other.jsonl", *session("other", 1, [("user", PROMPT)]))
    corpus.update(embed=True)
    [hit] = warmly(corpus)(PROMPT, "now", [], 3)
    assert hit.snippet == f"user: {PROMPT}\nassistant: {FIXED}"


@pytest.mark.parametrize("words", [False, True])
def test_what_was_removed_meanwhile_is_not_brought_up(tmp_path: Path, words: bool) -> None:
    corpus = Corpus(tmp_path)
    path = corpus.write(
        "old.jsonl",
        *(
            {**each, "source": str(corpus.files / "old.jsonl")}
            for each in session("old", 1, [("user", SAID), ("assistant", FIXED)])
        ),
    )
    corpus.update(embed=True)
    brings = warmly(corpus, words=words)
    assert ids(brings, PROMPT)
    path.unlink()
    assert ids(brings, PROMPT) == []


@pytest.mark.parametrize("limit", [0, -1, 1])
def test_the_limit_holds(each_way: Brings, limit: int) -> None:
    assert len(ids(each_way, PROMPT, limit=limit)) == max(0, limit)


def test_of_a_huge_prompt_the_ends_count(each_way: Brings) -> None:
    filler = " ".join(f"log{n}" for n in range(60_000))
    assert ids(each_way, filler + PROMPT + filler) == []
    assert ids(each_way, PROMPT + " a" * 200_000) != []


@pytest.mark.parametrize(
    "prompt",
    [
        "\ud800",
        "login \udfff clock frozen \ud83d",
        "x" * 500_000,
        "a b " * 125_000,
        "日本" * 1000,
        "src/login/test.py:12: ClockError: not frozen",
        "`getUserName(id)` returns null",
        "what was said about redis sessions in May?",
        "\x00\x00",
        '"(((" AND OR NOT login:*',
    ],
    ids=range(10),
)
def test_prompts_of_all_shapes_are_taken(each_way: Brings, prompt: str) -> None:
    assert len(ids(each_way, prompt)) <= 3


@given(
    st.text(st.characters(exclude_categories=[]), max_size=60)
    | st.lists(st.sampled_from([*PROMPT.split(), *TALK, *TEXTS.values()])).map(" ".join),
    st.sampled_from(["now", "", "\ud800"]),
)
@examples(60)
def test_no_prompt_raises(brings: Brings, prompt: str, session: str) -> None:
    found = ids(brings, prompt, session=session)
    assert len(found) == len(set(found)) <= 3
    assert not {"block", "cli-0"} & set(found)


def test_facts_and_static_entries_come_to_mind(place: Place) -> None:
    decided = "We decided to keep the harbour ledger in Postgres"
    said = Message("m", "one", "claude", "", "", "2026-05-01T09:00:00Z", "user", f"{decided}.")
    fact_store.store_facts(place, prose.extract_facts([said]))
    put(place, "limits", "The gateway allows 50 requests a second.")
    engine = OpenStore(place).update_engine("hybrid")
    for prompt, kind, text in (
        ("where do we keep the harbour ledger?", "fact", decided),
        (
            "how many requests allows the gateway?",
            "static",
            "The gateway allows 50 requests a second.",
        ),
    ):
        [hit] = prompts.recall_warm(engine, prompt, "two", [], 3).found
        assert (hit.kind, hit.snippet) == (kind, text)
