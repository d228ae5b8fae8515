"""Facts: kept once, superseded, decided on, found again."""

import json
import os
import sys
from pathlib import Path

import pytest

from memfs.core.body_edits import Append
from memfs.core.errors import StoreError
from memfs.core.records import Fact, Message, Origin
from memfs.knowledge.facts import fact_store, prose
from memfs.ops import context, edit, facts
from memfs.recall.open_store import OpenStore
from memfs.store import blocks, lock, recall, session_outcomes
from memfs.store import facts as stored
from memfs.store.blocks import Place
from tests.cli.conftest import Run
from tests.cli.conftest import memfs as memfs  # noqa: PLC0414 - a fixture
from tests.terminal import type_into


def message(number: int, text: str, day: int = 1) -> Message:
    at = f"2026-05-{day:02}T09:00:{number:02}Z"
    return Message(f"m{number}", "s1", "claude", "/p", "main", at, "user", text)


def add(place: Place, *texts: str) -> list[Fact]:
    found = [message(n, text, n + 1) for n, text in enumerate(texts)]
    return fact_store.store_facts(place, prose.extract_facts(found))


def holding(place: Place) -> list[str]:
    return [fact.statement for fact in fact_store.list_facts(place) if fact.holds]


def test_the_same_is_kept_once(place: Place) -> None:
    assert len(add(place, "Never deploy on Fridays.", "We decided to use Postgres.")) == 2
    assert add(place, "Never deploy on Fridays.", "We decided to use Postgres.") == []
    assert add(place, "never deploy on fridays") == []
    assert add(place, "Never deploy on Fridays!") == []
    assert holding(place) == ["Never deploy on Fridays", "We decided to use Postgres"]


def test_what_is_about_the_user_is_the_users(place: Place) -> None:
    add(place, "My name is Alice.", "Never deploy on Fridays.")
    assert place.user
    assert place.project
    assert [f.statement for f in stored.load_facts(place.user).values()] == ["My name is Alice"]
    assert [f.statement for f in stored.load_facts(place.project).values()] == [
        "Never deploy on Fridays"
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I prefer Python for small scripts.", "I prefer Go for small scripts."),
        ("My name is Alice.", "My name is Alicia."),
        ("The project needs Python 3.11 to run.", "The project needs Python 3.12 to run."),
        ("We use MySQL for orders.", "Let's use Postgres instead of MySQL."),
        ("I prefer tabs.", "I prefer spaces over tabs."),
        ("we use Vue", "I've decided to use React instead of Vue"),
        ("timeout is 5", "The timeout is 10 s"),
        ("The timeout is 5 seconds", "Set the timeout to 10 s"),
        ("We use MySQL for orders", "I'll use Postgres for the orders"),
        ("I prefer Python", "Actually, I prefer TypeScript now"),
        ("I prefer to write Go", "I'd rather use Rust"),
        ("I prefer dark mode", "I prefer light mode"),
        ("I prefer window seats", "Actually, I prefer aisle seats now"),
        ("I always use Vim", "I no longer use Vim"),
        ("I prefer short answers", "These days I prefer detailed answers"),
        ("I prefer tabs over spaces", "I prefer `spaces` now"),
        ("I prefer Python because it is short", "I prefer Go, it is fast"),
        ("I prefer SQLite in tests", "In our tests I prefer Postgres"),
        ("I prefer long commit messages", "I prefer short commit messages now"),
    ],
)
def test_what_changed_supersedes(before: str, after: str, place: Place) -> None:
    add(place, before, after)
    assert holding(place) == [after.rstrip(".")]
    [old] = [fact for fact in fact_store.list_facts(place) if not fact.holds]
    assert (old.statement, old.status) == (before.rstrip("."), "superseded")
    [new] = [fact for fact in fact_store.list_facts(place) if fact.holds]
    assert old.by == new.id


def test_what_was_said_before_does_not_supersede(place: Place) -> None:
    later = prose.extract_facts([message(1, "My name is Alicia.", 9)])
    earlier = prose.extract_facts([message(2, "My name is Alice.", 1)])
    fact_store.store_facts(place, later)
    fact_store.store_facts(place, earlier)
    assert holding(place) == ["My name is Alicia"]
    [old] = [fact for fact in fact_store.list_facts(place) if not fact.holds]
    assert (old.statement, old.by) == ("My name is Alice", later[0].id)


def test_going_back_to_a_former_decision_counts(place: Place) -> None:
    add(
        place,
        "We use MySQL for storage.",
        "Let's use Postgres instead of MySQL.",
        "Let's use MySQL instead of Postgres.",
        "Let's use Postgres instead of MySQL.",
    )
    assert holding(place) == ["Let's use Postgres instead of MySQL"]


def test_what_is_alike_in_form_is_not_superseded(place: Place) -> None:
    add(place, "Let's keep Redis for caching.", "We agreed to keep the old API until June.")
    assert len(holding(place)) == 2


def test_what_is_personal_is_nobody_elses(place: Place) -> None:
    said = (
        "My name is Ann.",
        "Never call me before ten.",
        "Actually, my wife is in hospital today.",
        "Please always write to ann@home.example.",
        "We deploy on Kubernetes.",
    )
    add(place, *said)
    assert place.project
    assert [f.statement for f in stored.load_facts(place.project).values()] == [
        said[-1].rstrip(".")
    ]
    mine = prose.extract_facts([message(9, "I work at Acme in Berlin.", 20)])
    assert fact_store.store_facts(Place(place.project, None), mine) == []


def test_what_was_rejected_does_not_come_back_in_other_words(place: Place) -> None:
    [fact] = add(place, "My name is Ann.")
    assert facts.decide(place, fact.id[:6], "rejected").status == "rejected"
    assert holding(place) == []
    for said, count in (("My name is Ann.", 0), ("Hi, my name is Ann.", 0), ("My name is Bea.", 1)):
        new = prose.extract_facts([message(5, said, 8)])
        assert len(fact_store.store_facts(place, new)) == count


def test_one_fact_is_meant_or_none(place: Place) -> None:
    assert place.project
    assert place.user
    some = [
        Fact(ident, f"Statement {ident}", 0.9, "technical", at="2026-05-01")
        for ident in ("ab", "ab01", "ab02")
    ]
    stored.write_facts(place.project, some[1:])
    stored.write_facts(place.user, some[:1])
    assert fact_store.decide_fact(place, "a", "rejected") is None
    changed = fact_store.decide_fact(place, "ab", "rejected")
    assert changed
    assert changed.id == "ab"


HOSTILE = (
    '{"id":"a1","statement":"x","confidence":0.9,"category":"technical","at":"../../Z"}',
    '{"id":"a2","statement":"x y","confidence":0.9,"category":"technical","at":"nodir/x"}',
    '{"id":"a3","statement":"x z","confidence":0.9,"category":"technical","by":5}',
    '{"id":"a4","statement":"u","confidence":' + "9" * 400 + ',"category":"technical"}',
    '{"id":"a5","statement":"\\ud800","confidence":0.9,"category":"technical"}',
    '{"id":"a6","statement":"v","confidence":NaN,"category":"technical"}',
    '{"id":"a7","statement":"w","confidence":0.9,"category":"technical","host":"../../..","session":"s"}',
)


def test_facts_that_came_with_a_clone_lead_nowhere(
    place: Place, memfs: Run, tmp_path: Path
) -> None:
    assert place.project
    folder = Path(place.project.root, "facts")
    folder.mkdir()
    (folder / "2026-01.jsonl").write_text("\n".join(HOSTILE) + "\n")
    before = sorted(path for path in tmp_path.rglob("*") if "local" not in path.parts)
    for words in ((), ("list", "--sources"), ("list", "--summary"), ("list", "--json")):
        assert memfs("facts", *words).code == 0
    for ident in ("a1", "a2", "a7"):
        assert memfs("facts", "accept", ident).code == 0
    after = sorted(path for path in tmp_path.rglob("*") if "local" not in path.parts)
    assert [path for path in after if path not in before] == [folder / "undated.jsonl"]
    assert [fact.id for fact in fact_store.list_facts(place)] == ["a7", "a1", "a2"]


def test_links_in_the_folder_of_facts_are_not_followed(
    place: Place, memfs: Run, tmp_path: Path
) -> None:
    assert place.project
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "2026-01.jsonl").write_text(HOSTILE[0] + "\n")
    folder = Path(place.project.root, "facts")
    folder.symlink_to(outside)
    assert fact_store.list_facts(place) == []
    [fact] = add(place, "Never deploy on Fridays.")
    with pytest.raises(StoreError):
        facts.decide(place, fact.id, "accepted")
    folder.unlink()
    folder.mkdir()
    (folder / "2026-05.jsonl").symlink_to(outside / "bashrc")
    with pytest.raises(StoreError):
        facts.decide(place, fact.id, "accepted")
    assert [each.status for each in fact_store.list_facts(place)] == ["active"]
    assert [path.name for path in outside.iterdir()] == ["2026-01.jsonl"]


def test_nothing_of_an_untrusted_store_is_composed(place: Place, memfs: Run) -> None:
    [fact] = add(place, "Never deploy on Fridays.")
    facts.decide(place, fact.id, "accepted")
    memfs("trust", "--revoke")
    shown = memfs("recall", "deploy on fridays")
    assert "deploy on Fridays" not in shown.out
    assert "the project's store is not trusted" in shown.err
    words = [sys.executable, "-m", "memfs"]
    terminal = {**os.environ, "PAGER": "cat", "NO_COLOR": "1"}
    _, told = type_into([*words, "recall", "deploy on fridays"], "", Path.cwd(), terminal)
    assert "error: you have not trusted this store" in told
    _, told = type_into([*words, "trust"], "n\n", Path.cwd(), terminal)
    assert "deploy on Fridays" in told


def test_secrets_are_no_facts(place: Place) -> None:
    key = "ghp_" + "x7Kq2mPz9LwR4tVb8NcY3sHd6JfG1aQeU5oZ"
    assert add(place, f"From now on use the key {key}.") == []


def test_lines_of_two_branches_unite(place: Place) -> None:
    [fact] = add(place, "Never deploy on Fridays.")
    facts.decide(place, fact.id, "accepted")
    facts.decide(place, fact.id, "accepted")
    assert place.project
    path = Path(place.project.root, "facts", "2026-05.jsonl")
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[1], "{broken", "<<<<<<< ours", *lines[:1], lines[1]]))
    assert [each.status for each in stored.load_facts(place.project).values()] == ["accepted"]
    facts.decide(place, fact.id, "rejected")
    assert [each.status for each in stored.load_facts(place.project).values()] == ["rejected"]


def test_only_what_a_person_accepted_is_committed(place: Place, memfs: Run) -> None:
    kept, other = add(place, "Never deploy on Fridays.", "We decided to use Postgres.")
    assert place.project
    folder = Path(place.project.root, "facts")
    assert not folder.exists()
    assert memfs("facts", "accept", kept.id).code == 0
    [line] = (folder / "2026-05.jsonl").read_text().splitlines()
    assert (json.loads(line)["id"], "s1" in line) == (kept.id, False)
    [shown] = [each for each in fact_store.list_facts(place) if each.id == kept.id]
    assert (shown.status, shown.session, shown.message) == ("accepted", "s1", kept.message)
    found = json.loads(memfs("search", "deploy on Fridays", "--in", "facts", "--json").out)
    assert [hit["id"] for hit in found["hits"]].count(kept.id) == 1
    memfs("facts", "reject", other.id)
    assert other.id not in (folder / "2026-05.jsonl").read_text()


def test_what_a_forgotten_session_said_and_was_not_accepted_goes_whole(place: Place) -> None:
    kept, other = add(place, "Never deploy on Fridays.", "We decided to use Postgres.")
    store = place.home
    facts.decide(place, kept.id, "accepted")
    facts.decide(place, other.id, "accepted")
    facts.decide(place, other.id, "rejected")
    line = json.dumps({"id": "old", "category": "rule", "confidence": 0.9, "statement": "Use uv.",
                       "host": "claude", "session": "s1", "at": kept.at})  # fmt: skip
    Path(store.root, "facts", "2026-04.jsonl").write_text(f"{line}\n")  # of an earlier memfs
    facts.decide(place, "old", "rejected")
    with lock.hold_locks(place.stores(), lock.KINDS):
        assert session_outcomes.remove_traces(place, store, {("claude", "s1")}) == 2
    assert {each.id: each.session for each in fact_store.list_facts(place)} == {kept.id: ""}
    texts = [Path(path).read_text() for path in stored.sources(store)]
    assert not any("s1" in text or "Postgres" in text or "uv" in text for text in texts)
    assert facts.forget(place, [kept.id]) == 1


def test_what_was_accepted_holds_until_the_later_one_is_accepted(place: Place) -> None:
    [old] = add(place, "The timeout is 5 s.")
    facts.decide(place, old.id, "accepted")
    [new] = fact_store.store_facts(
        place, prose.extract_facts([message(9, "The timeout is 10 s.", 9)])
    )
    assert holding(place) == [old.statement, new.statement]
    facts.decide(place, new.id, "accepted")
    assert holding(place) == [new.statement]
    assert place.project
    committed = Path(place.project.root, "facts", "2026-05.jsonl").read_text().splitlines()
    assert [json.loads(line).get("by", "") for line in committed] == ["", "", new.id]


def recorded(place: Place, *texts: str) -> None:
    path = Path(place.home.local) / "recall/claude/s1.jsonl"
    recall.write_session(str(path), [message(n, text, n + 1) for n, text in enumerate(texts)])


def test_recall_is_looked_through_once(place: Place, memfs: Run) -> None:
    recorded(place, "Never deploy on Fridays.", "What is the port?", "My name is Alice.")
    shown = memfs("facts", "extract")
    assert shown.err == (
        "✓ 2 new facts in 3 messages\nto put facts into a block, run: memfs review\n"
    )
    assert "rule 0.85\n    Never deploy on Fridays\n" in shown.out
    assert memfs("facts", "extract").err == "✓ 0 new facts in 0 messages\n"
    found = json.loads(memfs("facts", "list", "--json").out)
    assert {(each["host"], each["session"], each["message"]) for each in found} == {
        ("claude", "s1", "m0"),
        ("claude", "s1", "m2"),
    }
    assert (
        "claude s1: Never deploy on Fridays." in memfs("facts", "list", "--sources", "deploy").out
    )
    assert memfs("facts", "list", "--summary").out == (
        "## rule\n- Never deploy on Fridays\n## identity\n- My name is Alice\n"
    )
    grouped = json.loads(memfs("facts", "list", "--summary", "--json").out)
    assert {name: [each["statement"] for each in some] for name, some in grouped.items()} == {
        "rule": ["Never deploy on Fridays"],
        "identity": ["My name is Alice"],
    }


def test_facts_of_tools_that_are_stored_are_read_found_and_forgotten(
    place: Place, memfs: Run
) -> None:
    assert place.project
    folder = Path(place.project.root, "facts")
    folder.mkdir()
    printed = "The installed version of `node` is 20.1.0"
    lines = [
        {
            "id": f"{number:016x}",
            "statement": statement,
            "confidence": 0.85,
            "category": category,
            "entities": ["node"],
            "key": key,
            "host": "claude",
            "session": "s1",
            "message": "m0",
            "at": "2026-05-01T09:00:00Z",
            "extractor": "rules",
        }
        for number, (statement, category, key) in enumerate(
            (
                (printed, "version", "version of node"),
                ("`queue.take` gives the oldest order (`queue.go`)", "technical", "what take is"),
                ("Committed: Keep orders in a queue", "change", ""),
            )
        )
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "2026-05.jsonl").write_text(text)
    path = Path(place.home.local) / "recall/claude/s1.jsonl"
    result = message(0, "v20.1.0")._replace(role="tool", tool="result")
    recall.write_session(str(path), [result])
    assert json.loads(memfs("facts", "list", "--json").out)[0]["statement"] == printed
    assert "found by rules; claude s1: v20.1.0" in memfs("facts", "list", "--sources", "node").out
    assert printed in memfs("search", "installed version of node", "--in", "facts").out
    assert memfs("facts", "extract").err == "✓ 0 new facts in 1 message\n"
    add(place, "The project needs Node 22.1 to run.")
    assert printed not in holding(place)
    assert memfs("facts", "reject", lines[1]["id"]).code == 0
    assert memfs("session", "forget", "s1", "--yes").code == 0
    assert holding(place) == []


def test_a_person_decides(place: Place, memfs: Run) -> None:
    [fact] = add(place, "Never deploy on Fridays.")
    assert memfs("facts", "reject", fact.id[:8]).err == "✓ rejected: Never deploy on Fridays\n"
    assert (
        memfs("facts").err
        == "no facts found; to find facts in new sessions, run memfs facts extract\n"
    )
    assert "rule 0.85 rejected" in memfs("facts", "list", "--status", "rejected").out
    assert memfs("facts", "accept", fact.id[:8]).code == 0
    assert memfs("facts", "accept", "zz").code == 1
    assert memfs("facts", "list", "[").code == 2


def test_facts_are_in_the_context_of_a_task(place: Place) -> None:
    add(place, "Never deploy the shop on Fridays.", "I prefer tabs.")
    found = context.for_task(OpenStore(place), "deploy the shop", 300)
    assert found.text.endswith("- facts from past sessions\n> Never deploy the shop on Fridays\n")


def test_what_is_sure_is_offered_for_a_block_and_written_into_none(place: Place) -> None:
    add(
        place,
        "I prefer tabs over spaces.",
        "Never deploy on Fridays.",
        "We use Biome to format the code.",
    )
    assert sorted((each.label, each.fact.statement) for each in facts.list_offers(place)) == [
        ("human", "I prefer tabs over spaces"),
        ("system_rules", "Never deploy on Fridays"),
    ]
    assert not any("tabs" in block.value for block in blocks.load(place))
    edit.run(place, [Append("human", "I prefer tabs over spaces")], Origin("user"))
    assert [each.label for each in facts.list_offers(place)] == ["system_rules"]
