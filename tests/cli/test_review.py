"""`memfs review`: the one list of things to decide; a key or a command accepts or dismisses each."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from memfs.core.errors import RejectedError
from memfs.core.records import ACCEPTED, ACTIVE, Fact, Identity, Message, Origin, Transcript
from memfs.ops import brief, review, show
from memfs.recall import index_sources
from memfs.store import facts, recall, standing_rules, store_paths, trust
from memfs.store.blocks import Place
from memfs.store.standing_rules import StandingRule
from tests.cli.conftest import Run
from tests.terminal import type_into

RULE = "never commit fixtures with real names in them"
MINE = "i always want the short answer first"


@pytest.fixture(autouse=True)
def said(place: Place) -> None:
    messages = [
        Message(f"old-{n}", "old", "claude", "/p", "main", f"2026-04-01T09:00:0{n}Z", "user", text)
        for n, text in enumerate((RULE, MINE))
    ]
    log = recall.RecallLog(place.home, "claude", Identity("old", ""))
    log.replace(None, "/old.jsonl", Transcript(messages, 0, 0, 0), "")
    index_sources.sync(place, embed=False)


def pending(memfs: Run) -> dict[str, tuple[str, str]]:
    found = json.loads(memfs("review", "list", "--json").out)["items"]
    return {each["what"]: (each["id"], each["label"]) for each in found}


def test_a_start_tells_of_them_once(place: Place) -> None:
    told = "memfs: 2 rules you stated are not saved in a block yet (run memfs review)"
    assert told in brief.start(place).notice.splitlines()
    assert told not in brief.start(place).notice


def test_they_are_listed_with_the_commands_that_decide(memfs: Run) -> None:
    done = memfs("review")
    ident, label = pending(memfs)[RULE]
    assert label == "system_rules"
    why = "stated by you; not in a block yet (for system_rules)"
    assert f"{ident}  2026-04-01  rule: {why}\n" in done.out
    assert f"    {RULE}\n" in done.out
    assert "to decide: memfs review accept ID..., dismiss ID..., or show ID" in done.err
    assert RULE in memfs("review", "show", ident).out


def test_what_may_be_a_rule_is_listed_behind_those_that_are_certain(
    place: Place, memfs: Run
) -> None:
    likely = StandingRule("2026-04-02", "claude", "s", "m", "kebab-case for all", certain=False)
    standing_rules.write(place.home, [likely, *standing_rules.read(place.home)])
    assert [*pending(memfs)][-1] == likely.text
    done = memfs("review")
    assert f"{likely.id}  2026-04-02  rule: may be a rule (for system_rules)\n" in done.out


def test_one_is_taken_in_the_users_own_words(place: Place, memfs: Run) -> None:
    ident, label = pending(memfs)[MINE]
    assert label == "human"
    assert memfs("review", "accept", ident[:6]).code == 0
    assert f"- {MINE}\n" in show.run(place, "human").block.raw
    assert [*pending(memfs)] == [RULE]
    assert MINE not in brief.start(place).context.partition("# Stated")[2]


def test_one_that_is_dropped_does_not_come_back(place: Place, memfs: Run) -> None:
    assert memfs("review", "dismiss", pending(memfs)[RULE][0]).code == 0
    index_sources.sync(place, embed=False)
    assert [*pending(memfs)] == [MINE]
    assert RULE not in brief.start(place).context


def test_what_nothing_is_called_is_refused(memfs: Run) -> None:
    done = memfs("review", "accept", "zzz")
    assert done.code == 1
    assert "no item to review has the id 'zzz'" in done.err


def test_at_a_terminal_a_key_decides(place: Place, repo: Path, memfs: Run) -> None:
    code, shown = type_into([sys.executable, "-m", "memfs", "review"], "", repo, keys=("]? ", "yn"))
    assert code == 0, shown
    assert pending(memfs) == {}
    raws = [show.run(place, label).block.raw for label in ("human", "system_rules")]
    assert sum(f"- {text}" in raw for raw in raws for text in (RULE, MINE)) == 1


def test_several_are_decided_at_once(place: Place, memfs: Run) -> None:
    idents = [ident for ident, _ in pending(memfs).values()]
    assert memfs("review", "accept", *idents, "zzz").code == 1
    assert len(pending(memfs)) == 2, "nothing is decided while one of them is unknown"
    done = memfs("review", "accept", *idents)
    assert (done.code, done.err.count("✓")) == (0, 2)
    assert pending(memfs) == {}


def test_a_fact_is_taken_into_a_block_and_committed(place: Place, memfs: Run) -> None:
    tabs = Fact("f" * 16, "I prefer tabs over spaces", 0.9, "preference", session="s", host="h")
    facts.write_facts(
        place.home, [tabs, replace(tabs, id="e" * 16, statement=RULE, category="rule")]
    )
    found = pending(memfs)
    assert found[tabs.statement] == (tabs.id, "human")
    assert found[RULE][0] != "e" * 16, "what is a rule already is not listed twice"
    assert memfs("review", "accept", tabs.id).code == 0
    assert tabs.statement in show.run(place, "human").block.value
    assert tabs.statement in Path(place.home.root, "facts", "undated.jsonl").read_text()
    assert tabs.statement not in pending(memfs)


def test_a_fact_with_the_id_of_a_rule_does_not_take_its_place(place: Place, memfs: Run) -> None:
    ident, _ = pending(memfs)[RULE]
    facts.write_facts(place.home, [Fact(ident, "I prefer curl | sh", 0.9, "preference")])
    assert "I prefer curl | sh" not in pending(memfs)
    assert memfs("review", "accept", ident).code == 0
    assert RULE in show.run(place, "system_rules").block.value


def test_a_fact_that_contradicts_an_accepted_one_replaces_it(place: Place, memfs: Run) -> None:
    old = Fact("a" * 16, "The timeout is 5 s", 0.9, "environment", key="timeout",
               at="2026-04-01T00:00:00Z", status=ACCEPTED)  # fmt: skip
    new = replace(old, id="b" * 16, statement="The timeout is 9 s", at="2026-05-01T00:00:00Z")
    facts.write_facts(place.home, [old, replace(new, status=ACTIVE)])
    shown = memfs("review", "show", "bbbb").out
    assert "contradicts “The timeout is 5 s”, which you accepted" in " ".join(shown.split())
    assert memfs("review", "accept", "bbbb").code == 0
    status = {ident: fact.status for ident, fact in facts.load_facts(place.home).items()}
    assert status == {old.id: "superseded", new.id: "accepted"}


def test_what_is_wrong_in_blocks_waits_until_it_is_mended_or_dismissed(
    place: Place, repo: Path, memfs: Run
) -> None:
    path = Path(show.run(place, "persona").block.path)
    text = (
        "---\ndescription: Who\nlimit: 60\nreview_after: 2026-01-02\n---\nName: Bob\nName: Alice\n"
    )
    path.write_text(text + "Likes short answers, and tests.\n")
    (path.parent / "persona (conflicted copy 2026-05-01).md").write_text("x")
    subprocess.run(["git", "init", "-q", repo], check=True)
    found = json.loads(memfs("review", "list", "--json").out)["items"]
    ids = {each["kind"]: each["id"] for each in found}
    assert ids.keys() >= {"contradiction", "due", "full", "copy"}
    refused = memfs("review", "accept", ids["contradiction"])
    assert (refused.code, "memfs edit persona" in refused.err) == (1, True)
    assert memfs("review", "accept", ids["due"]).code == 0
    assert "review_after" not in path.read_text()
    assert memfs("review", "dismiss", ids["full"], ids["copy"]).code == 0
    left = json.loads(memfs("review", "list", "--json").out)["items"]
    assert {each["kind"] for each in left} == {"rule", "contradiction"}
    assert "to decide      2 rules, 1 contradiction; run memfs review" in memfs("status").out


def test_a_file_that_moved_is_mended(place: Place, repo: Path, memfs: Run) -> None:
    memfs("create", "layout", "Prices are in `src/pricing.py`.", "--description", "Where")
    (repo / "src").mkdir()
    (repo / "src/pricing.py").write_text("x = 1\n" * 9)
    git = ["git", "-C", str(repo), "-c", "user.name=A", "-c", "user.email=a@b.example"]
    for words in (["add", "-A"], ["commit", "-qm", "one"], ["mv", "src/pricing.py", "src/money.py"],
                  ["commit", "-qm", "two"]):  # fmt: skip
        subprocess.run([*git, *words], check=True)
    [item] = (each for each in json.loads(memfs("review", "list", "--json").out)["items"]
              if each["kind"] == "stale")  # fmt: skip
    assert (item["label"], item["accept"]) == ("layout", "correct it")
    assert memfs("review", "accept", item["id"]).code == 0
    assert show.run(place, "layout").block.value == "Prices are in `src/money.py`."


def test_what_others_changed_is_decided_by_trust_alone(place: Place, memfs: Run) -> None:
    store = place.project
    assert store
    trust.revoke_trust(store)
    [item] = review.list_items(Place(store_paths.find(store.top), place.user))
    assert item.kind == "incoming"
    for decide in (
        lambda: review.accept(place, item, Origin()),
        lambda: review.dismiss(place, item),
    ):
        with pytest.raises(RejectedError) as refused:
            decide()
        assert "memfs trust" in refused.value.hint
