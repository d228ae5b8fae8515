"""Exchanges and their sentences: what is read around a turn, and what of it is shown."""

from pathlib import Path

import pytest
import tantivy

from memfs.recall import prompts
from memfs.recall.answers import CERTAIN_ROOM, PromptRecall
from memfs.recall.exchanges import SessionTurn
from memfs.recall.sentence_selection import describe_form, weigh
from memfs.recall.sentences import count_specifics, split_sentences
from memfs.search.engine import Engine
from memfs.search.prompt_relevance import list_content
from memfs.store.dismissals import Dismissal
from memfs.store.prompt_log import hash_words
from tests.search.stores import Corpus, session

Said = list[tuple[str, str]]
WEBHOOK: Said = [
    ("user", "the stripe webhook signature check fails in staging, have a look"),
    ("assistant", "Looking at `api/hooks.py` first."),
    ("tool", "grep: webhook signature staging stripe check fails"),
    ("assistant", "The raw body is parsed before the check. I would read `request.body` once."),
    ("user", "no, the secret is the wrong one there: staging has its own, STRIPE_WHSEC_STAGING"),
    ("assistant", "Right, the deployment had the key of production. It verifies now."),
    ("user", "works. commit it"),
]
LIMIT: Said = [
    ("user", "which rate limit should the public search API have?"),
    ("assistant", "I would start with 100 requests per minute for each key."),
    ("user", "make it 60"),
    ("assistant", "Done: `RATE_LIMIT = 60` per minute in `api/limits.py`."),
]
LOGIN: Said = [
    ("user", "登录会话在 Redis 里多久过期?"),
    ("assistant", "现在是三十天。会话过期时间写在 api/settings.py 里。"),
    ("user", "改成七天,不要滚动。"),
    ("assistant", "已改:SESSION_TTL_DAYS = 7,登录会话七天后过期。"),
]
TALK: Said = [
    turn
    for at in range(20)
    for turn in (
        ("user", f"and the colour of badge {at} on the settings page?"),
        ("assistant", f"Badge {at} is grey there, as the palette has it."),
    )
]
EXPORT: Said = [
    ("user", "the nightly export drops rows with umlauts, what should we do?"),
    ("assistant", "I would strip the accents before the rows are written."),
    ("user", "no: write UTF-8 with a byte order mark, and semicolons between the fields"),
    *TALK,
    ("user", "the export is still missing the header line of each region"),
    (
        "assistant",
        "Recap: the export has UTF-8 with a byte order mark, semicolons between fields, a header.",
    ),
    ("user", "right, that is it"),
]
OTHER: Said = [
    ("user", "the footer of the shop overlaps the map on small screens"),
    ("assistant", "A negative margin did that; it is gone."),
]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    made = Corpus(tmp_path_factory.mktemp("exchanges"))
    for number, (name, said) in enumerate(
        {"hook": WEBHOOK, "limit": LIMIT, "css": OTHER, "login": LOGIN}.items(), 1
    ):
        write_session(made, name, number, said)
    made.update(embed=True)
    return made


def write_session(corpus: Corpus, name: str, day: int, said: Said) -> None:
    corpus.write(f"{name}.jsonl", *session(name, day, said))


def told(
    corpus: Corpus, prompt: str, shown: list[str] | None = None, limit: int = 5
) -> dict[str, str]:
    """Return what each session says to a prompt, by its name."""
    found = prompts.recall_warm(corpus.engine(), prompt, "now", shown or [], limit).found
    return {hit.session: hit.snippet for hit in found if hit.kind == "message"}


def test_a_question_brings_its_outcome(corpus: Corpus) -> None:
    said = told(corpus, "the stripe webhook signature check fails in staging again")["hook"]
    assert "STRIPE_WHSEC_STAGING" in said
    assert "grep:" not in said, "what tools put out is no answer"


def test_the_users_last_word_comes_with_the_proposal(corpus: Corpus) -> None:
    said = told(corpus, "document the rate limit of the public search API")["limit"]
    assert "make it 60" in said
    assert "RATE_LIMIT = 60" in said


def test_a_short_answer_comes_with_what_it_answers(corpus: Corpus) -> None:
    lines = told(corpus, "rate limit of the public search API")["limit"].split("\n")
    before = lines[lines.index("user: make it 60") - 1]
    assert before.startswith("assistant: ")
    assert before.endswith("100 requests per minute for each key.")


def test_chinese_is_answered_too(corpus: Corpus) -> None:
    assert "SESSION_TTL_DAYS = 7" in told(corpus, "登录会话多久过期?")["login"]


def test_what_is_about_something_else_stays_away(corpus: Corpus) -> None:
    engine = corpus.engine()
    found = prompts.recall_warm(engine, "write a haiku about mountain goats", "now", [], 5)
    assert found.found == []
    assert 0 < found.about < found.floor


def test_the_recap_at_the_end_comes_with_a_question_far_before_it(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    write_session(corpus, "export", 1, EXPORT)
    corpus.update(embed=True)
    quotes = told(corpus, "rows with umlauts are dropped in the nightly export again")["export"]
    assert "Recap: the export has UTF-8" in quotes


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_sentence_of_a_long_answer_counts_less(role: str) -> None:
    turn = SessionTurn(tantivy.Document(role=role, text="It is `8123`."), 1)
    few, some, many = (weigh(describe_form(turn.text, turn, count)) for count in (1, 12, 40))
    assert few > some > many if role == "assistant" else few == some == many


@pytest.mark.parametrize("vectors", [True, False])
def test_what_is_dismissed_does_not_come_for_such_prompts_alone(
    corpus: Corpus, vectors: bool
) -> None:
    engine = corpus.engine() if vectors else Engine(corpus.engine().text, None)

    def recall(prompt: str, *dismissed: Dismissal) -> PromptRecall:
        subject = hash_words(list_content(prompt))
        gone = (each.ids for each in dismissed if each.matches_prompt(subject))
        return prompts.recall_warm(engine, prompt, "now", [], 5, frozenset(*gone))

    for prompt, like, other in [
        ("document the rate limit of the public search API", "the search API rate limit, document it",
         "is the rate limit of 100 requests per minute for each key?"),
        ("登录会话多久过期?", "登录会话过期?", "7 天的 SESSION_TTL_DAYS 够吗?"),
    ]:  # fmt: skip
        first = recall(prompt)
        ids = [ident for hit in first.found for ident in hit.ids]
        assert ids
        subject = hash_words(list_content(prompt))
        dismissed = Dismissal("1", "", "", "", subject, "", "", "", ids)
        assert not set(ids) & {i for hit in recall(like, dismissed).found for i in hit.ids}
        assert set(ids) & {i for hit in recall(like).found for i in hit.ids}
        assert set(ids) & {i for hit in recall(other, dismissed).found for i in hit.ids}


def test_a_reply_has_its_room(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    for number in range(1, 8):
        said = [
            (role, f"{text} Part {at} of the ledger import {number} has batch {at * 100}.")
            for at in range(30)
            for role, text in (("user", "ledger import?"), ("assistant", "Yes."))
        ]
        write_session(corpus, f"s{number}", number, said)
    corpus.update(embed=True)
    shown = told(corpus, "how large are the batches of the ledger import?")
    assert 0 < len("".join(shown.values())) <= CERTAIN_ROOM


def test_a_later_session_on_the_same_is_named(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    for day in range(1, 5):
        said = [
            ("user", f"what limit has the ledger import now, {day * 100}?"),
            ("assistant", f"The limit of the ledger import is {day * 100} rows, as `batch` says."),
        ]
        write_session(corpus, f"s{day}", day, said)
    corpus.update(embed=True)
    shown = told(corpus, "what is the limit of the ledger import?", limit=2)
    assert len(shown) == 2
    days = {int(name[1:]) for name in shown}
    missing = {1, 2, 3, 4} - days
    assert min(days) < max(missing), "no later session is left out: the test tests nothing"
    for name, quotes in shown.items():
        later = [f"2026-05-0{day}" for day in missing if day > int(name[1:])]
        assert ("later on this" in quotes) == bool(later)
        assert all(day in quotes for day in later)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            "One thing that is said here. And another one, said behind it.",
            ["One thing that is said here.", "And another one, said behind it."],
        ),
        ("Short. It goes on with the short one.", ["Short. It goes on with the short one."]),
        (
            "a line of its own that is long\nthe next line that is long",
            ["a line of its own that is long", "the next line that is long"],
        ),
        (
            "今天的部署需要先运行数据库迁移然后再重启所有的服务进程。明天的会议改到下午三点在二楼的小会议室里举行。",
            [
                "今天的部署需要先运行数据库迁移然后再重启所有的服务进程。",
                "明天的会议改到下午三点在二楼的小会议室里举行。",
            ],
        ),
        ("", []),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


def test_no_word_of_a_long_sentence_is_lost() -> None:
    text = ", ".join(f"clause number {n} of one long sentence" for n in range(20))
    parts = split_sentences(text)
    assert len(parts) > 1
    assert " ".join(parts).replace(",", "").split() == text.replace(",", "").split()


@pytest.mark.parametrize(
    ("sentence", "count"),
    [
        ("we talked for a while about nothing", 0),
        ("it is `api/hooks.py`, not the other", 1),
        ("port 8080 and RATE_LIMIT in getUserName", 3),
        ("I said so. The End.", 0),
    ],
)
def test_what_names_something_exactly_is_counted(sentence: str, count: int) -> None:
    assert count_specifics(sentence) == count
