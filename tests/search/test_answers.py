"""What questions are made of: turns that answer each other, names, typos, CJK, times."""

from datetime import datetime
from pathlib import Path

import pytest

from memfs.core.hits import Hit
from tests.search.stores import Corpus, Document, document


def turns(*texts: str, session: str = "s", **more: object) -> list[Document]:
    return [
        document(f"{session}{number}", text, session=session, group=len(session) + 7, **more)
        for number, text in enumerate(texts)
    ]


def asked(tmp_path: Path, documents: list[Document], query: str, **more: object) -> list[Hit]:
    corpus = Corpus(tmp_path)
    corpus.write("log", *documents)
    corpus.update(embed=True)
    return corpus.engine().search(query, **more).hits  # type: ignore[arg-type]


def test_the_answer_beside_the_question_is_found(tmp_path: Path) -> None:
    """The turn that answers shares no word with what is asked; the one before it does."""
    talk = turns("where do we keep the deploy keys?", "in the vault, under ops", "thanks")
    others = turns(*(f"we talked about topic {n} and keys" for n in range(30)), session="other")
    hits = asked(tmp_path, others + talk, "where are the deploy keys kept")
    assert [hit.id for hit in hits[:2]] == ["s0", "s1"]
    assert hits[1].before == "user: where do we keep the deploy keys?" or hits[1].before.endswith(
        "where do we keep the deploy keys?"
    )
    assert "next to a turn with these words" in hits[1].why


def test_what_is_beside_a_turn_is_shown_wherever_the_index_has_it(tmp_path: Path) -> None:
    """Turns of two sessions came in by turns; one was taken out again."""
    first = turns("we bake bread", "the marmalade is sweet", "and the tea is hot", session="one")
    second = turns("the gears are steel", "the gearbox hums", "oil it", session="second")
    corpus = Corpus(tmp_path)
    mixed = [each for pair in zip(first, second, strict=True) for each in pair]
    corpus.write("log", *mixed)
    corpus.update(embed=True)
    (found, *_) = corpus.engine().search("marmalade").hits
    assert (found.before, found.after) == (": we bake bread", ": and the tea is hot")
    corpus.write("log", *(each for each in mixed if each["id"] != "one0"))
    corpus.update(embed=True)
    (found, *_) = corpus.engine().search("marmalade").hits
    assert (found.before, found.after) == ("", ": and the tea is hot")


def test_what_follows_a_question_is_nearer_than_what_came_before_it(tmp_path: Path) -> None:
    talk = turns("good, then that is done", "where do we keep the deploy keys?", "in ops, mostly")
    others = turns(*(f"we talked about topic {n} and keys" for n in range(30)), session="other")
    found = [hit.id for hit in asked(tmp_path, others + talk, "deploy keys kept where", limit=40)]
    assert found.index("s2") < [*found, "s0"].index("s0")


@pytest.mark.parametrize(
    ("query", "expected", "reason"),
    [
        ("getUserName", "camel", "names: getUserName"),
        ("user name", "camel", "words: user, name"),
        ("src/auth/token.py", "path", "same file: src/auth/token.py"),
        ("token.py", "path", "same file: token.py"),
        ("ECONNREFUSED", "code", "words: econnrefused"),
        ("kuberntes cluster", "typo", "words: cluster, kubernetes"),
        ("kuber cluster", "typo", "words: cluster, kubernetes"),
        ("连接失败", "cjk", "words: 连接失败"),
        ('"retry budget"', "phrase", "words: retry, budget"),
    ],
)
def test_names_paths_codes_typos_and_cjk_are_found(
    tmp_path: Path, query: str, expected: str, reason: str
) -> None:
    documents = [
        document("camel", "call getUserName before the page is drawn"),
        document("path", "the bug was in src/auth/token.py, line 12"),
        document("code", "it ends with ECONNREFUSED on the second attempt"),
        document("typo", "the kubernetes cluster has three nodes"),
        document("cjk", "数据库连接失败,请重试"),
        document("phrase", "the retry budget is five"),
        document("loose", "we retry, and the budget of the team is small"),
        *(document(f"f{n}", f"filler number {n} of nothing much") for n in range(20)),
    ]
    hits = asked(tmp_path, documents, query)
    assert hits[0].id == expected
    assert reason in hits[0].why


@pytest.mark.parametrize(
    ("sentence", "word"),
    [
        ("เซิร์ฟเวอร์ทำงานที่พอร์ตเจ็ดพันเมื่อคืน", "พอร์ต"),
        ("ຖານຂໍ້ມູນຂອງພວກເຮົາຢຸດເຮັດວຽກ", "ຖານຂໍ້ມູນ"),
        ("ម៉ាស៊ីនមេដំណើរការនៅលើច្រកប្រាំពីរពាន់", "ច្រក"),
        ("ဆာဗာသည်ဆိပ်ကမ်းခုနစ်ထောင်တွင်အလုပ်လုပ်သည်", "ဆိပ်ကမ်း"),
        ("データベースの接続に失敗しました", "接続"),
        ("数据库连接失败请重试", "连接失败"),
        ("데이터베이스비밀번호는매달바뀐다", "비밀번호"),
    ],
)
def test_a_word_is_found_inside_a_sentence_of_a_script_without_spaces(
    tmp_path: Path, sentence: str, word: str
) -> None:
    fillers = [document(f"f{n}", f"filler number {n} of nothing much") for n in range(20)]
    hits = asked(tmp_path, [document("it", sentence), *fillers], word)
    assert hits[0].id == "it"
    assert word in hits[0].why[0]


def test_a_mistyped_word_is_looked_for_in_the_beginning_of_a_tools_output(tmp_path: Path) -> None:
    long = "a line of nothing much " * 40
    documents = [
        document("early", f"the kubernetes cluster. {long}", role="tool"),
        document("late", f"{long} the postgres database", role="tool"),
        document("said", f"{long} the terraform state", role="assistant"),
    ]
    assert asked(tmp_path, documents, "kuberntes")[0].id == "early"
    assert asked(tmp_path / "2", documents, "terrafrom")[0].id == "said"
    assert asked(tmp_path / "3", documents, "postgres")[0].id == "late"


def test_a_time_in_the_question_counts(tmp_path: Path) -> None:
    now = datetime(2026, 11, 20, 12).astimezone()
    documents = [
        document(
            f"d{days}",
            f"we decided on the cache, take {days}",
            at=int(now.timestamp()) - 86400 * days,
        )
        for days in (1, 8, 40, 200)
    ]
    hits = asked(tmp_path, documents, "what did we decide last week about the cache", now=now)
    assert hits[0].id == "d8"
    assert "from that time" in hits[0].why
    assert "from that time" not in hits[1].why


def test_who_said_it_and_when_count_a_little(tmp_path: Path) -> None:
    now = datetime(2026, 11, 20, 12).astimezone()
    documents = [
        document("tool", "the build fails on arm", weight=70, at=int(now.timestamp())),
        document(
            "old", "The build  fails on ARM", weight=100, at=int(now.timestamp()) - 86400 * 900
        ),
        document("new", "the build\nfails on arm", weight=100, at=int(now.timestamp())),
    ]
    corpus = Corpus(tmp_path)
    corpus.write("log", *documents)
    corpus.update(embed=True)
    [hit] = corpus.engine().search("build fails arm", now=now).hits
    assert (hit.id, hit.alike) == ("new", 2), "they say the same"


def test_what_says_the_same_comes_once(tmp_path: Path) -> None:
    documents = [document(f"d{n}", "Run the linter first.") for n in range(4)]
    hits = asked(tmp_path, [*documents, document("e", "run the linter at the end")], "linter")
    assert sorted(hit.alike for hit in hits) == [0, 3]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "Use postgres, not mysql, for new services.",
            "Use mysql, not postgres, for new services.",
        ),
        ("Alice reports to Bob", "Bob reports to Alice"),
        ("retries >= 5", "retries <= 5"),
        ("it was ported to C++", "it was ported to C#"),
        ("the offset correction is -3", "the offset correction is 3"),
        ("a != b", "a = b"),
    ],
)
def test_what_says_the_opposite_in_the_same_words_is_not_the_same(
    tmp_path: Path, one: str, other: str
) -> None:
    hits = asked(tmp_path, [document("one", one), document("other", other)], one)
    assert sorted((hit.id, hit.alike) for hit in hits) == [("one", 0), ("other", 0)]


def test_when_it_was_is_nothing_that_a_text_would_say(tmp_path: Path) -> None:
    now = datetime(2026, 11, 20, 12).astimezone()
    days = {"then": 8, "lasts": 41, "week": 42}
    texts = {
        "then": "we decided to drop the cache",
        "lasts": "sessions last fourteen days, that we decided",
        "week": "a sprint is a week",
    }
    documents = [
        document(ident, text, at=int(now.timestamp()) - 86400 * days[ident])
        for ident, text in texts.items()
    ]
    hits = asked(tmp_path, documents, "what did we decide last week", now=now)
    assert hits[0].id == "then"
    assert not any("last" in why or "week" in why for hit in hits for why in hit.why)


def test_what_is_quoted_comes_first_also_of_what_was_said(tmp_path: Path) -> None:
    words = "permission for the relation was denied; invoices are fine"
    talk = turns(*(f"{words}, take {n}" for n in range(20)), "denied", "invoices permission denied")
    log = "psql: ERROR: permission denied\nfor relation invoices"
    tools = [document(f"log{n}", f"{log} {n}", session="log", group=9, weight=70) for n in range(4)]
    hits = asked(tmp_path, talk + tools, '"permission denied for relation invoices"', limit=6)
    assert {hit.id for hit in hits[:4]} == {"log0", "log1", "log2", "log3"}
    assert hits[0].why[0] == 'quoted: "permission denied for relation invoices"'
    assert not any(why.startswith("quoted") for hit in hits[4:] for why in hit.why)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("UserSession", {"camel", "snake", "plain"}),
        ("pdfRenderer", {"file"}),
        ("锁", {"lock"}),
        ("税", {"tax"}),
        ("〆切", {"due"}),
    ],
)
def test_the_parts_of_a_name_find_it_in_both_directions(
    tmp_path: Path, query: str, found: set[str]
) -> None:
    documents = [
        document("camel", "call getUserSession first"),
        document("snake", "call get_user_session first"),
        document("plain", "the session of a user"),
        document("file", "see pdf_renderer.py"),
        document("lock", "数据库死锁"),
        document("tax", "消費税の計算"),
        document("due", "〆切は金曜日"),
        document("none", "nothing of all that"),
    ]
    assert {hit.id for hit in asked(tmp_path, documents, query, mode="text")} == found


def test_the_piece_of_a_long_text_without_spaces_that_matches_is_shown(tmp_path: Path) -> None:
    text = f"{'前置きの文章です。' * 60}決済ゲートウェイはStripeを使う。{'後書き。' * 20}"
    [hit] = asked(tmp_path, [document("pay", text)], "決済ゲートウェイ")
    assert "決済ゲートウェイ" in hit.snippet
    assert "words: 決済ゲートウェイ" in hit.why


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("app.js", "it is in config/app.json"),
        ("10.0.0.1", "the server is 10.0.0.12 now"),
        ("ERR_10", "it ends with ERR_1042"),
    ],
)
def test_a_name_that_is_only_the_beginning_of_another_is_no_reason(
    tmp_path: Path, query: str, text: str
) -> None:
    hits = asked(tmp_path, [document("d", text)], query)
    assert not [w for hit in hits for w in hit.why if w.startswith(("names", "same file"))]


def test_short_words_and_numbers_are_not_held_for_others_mistyped(tmp_path: Path) -> None:
    documents = [document("d", "the background job has 137 steps of typescript")]
    for query in ("(b steps", "13 steps"):
        hits = asked(tmp_path / query[1], documents, query)
        assert hits[0].why[0] == "words: steps", query
