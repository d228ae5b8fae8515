"""What holds on every page: hostile texts are texts, secrets are masked, and reading changes nothing."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest

from memfs.core.body_edits import Append
from memfs.core.records import Fact, Origin
from memfs.knowledge.kinds import static
from memfs.ops import edit, review
from memfs.store import archive, facts, standing_rules
from memfs.store.blocks import Place
from memfs.store.standing_rules import StandingRule
from tests.ops.test_purge import SECRET
from tests.web.conftest import Client
from tests.web.test_search import say

SCRIPT = "<script>alert(1)</script>"
IMAGE = "<img src=x onerror=a>"
LONG = f"{'word ' * 40}needle {SCRIPT}{IMAGE} {SECRET} {'word ' * 40}"
ASKED = quote(SCRIPT, safe="")
PATHS = (
    *"home attention attention?selected=all blocks blocks/sly blocks/sly/edit blocks/sly/blame".split(),
    *"blocks/persona/history blocks/persona/blame brief facts prompts".split(),
    *"archive archive?q=needle archive/static/odd sessions sessions/claude/s-1".split(),
    f"search?q=needle+{ASKED}",
    f"archive?q={ASKED}&source={ASKED}&tag={ASKED}&tier={ASKED}&page={ASKED}",
    f"facts?q=&name={ASKED}&status=superseded&x={ASKED}",
)


@pytest.fixture
def passage(place: Place, block_file: Callable[[str, str], Path]) -> str:
    """Fill a memory with hostile texts and a secret; return the id of a passage."""
    block_file("sly", f"---\ndescription: '{SCRIPT}{IMAGE}'\n---\n{LONG}\n\"'>{IMAGE}\n")
    edit.run(place, [Append("persona", SCRIPT)], Origin("agent", "claude", "s", SCRIPT))
    static.put(place, "odd", SCRIPT + IMAGE)
    say(place, LONG, IMAGE)
    fact = Fact("e" * 16, LONG, 0.9, SCRIPT, (SCRIPT, SECRET), at=SCRIPT, extractor=SCRIPT)
    old = Fact(f'"{SCRIPT}', LONG, 0.9, "rule", (SECRET,), status="superseded", by=fact.id)
    facts.write_facts(place.home, [fact, old])
    rule = StandingRule(SCRIPT, "claude", SCRIPT, SCRIPT, f"Never {SCRIPT} {SECRET}")
    standing_rules.write(place.home, [rule])
    found, _ = archive.write_passage(
        place.home, LONG, importance=5, tags=(SCRIPT, SECRET), source=f"from {SCRIPT} {SECRET}"
    )
    return found.id


def check(text: str) -> None:
    shown = text.partition("<textarea")[0]  # a person edits the text as it is
    shown = re.sub('href="[^"]*[?&;]tag=[^"]*"', "", shown)  # and asks for a tag as it is
    assert SECRET[:12] not in shown
    assert "<script>alert" not in text
    assert "<img src=x" not in text


def test_hostile_texts_are_texts_and_secrets_are_masked(
    page: Client, place: Place, passage: str
) -> None:
    for path in (*PATHS, f"archive/{passage}"):
        answer = page.get(path)
        assert answer.status == 200, path
        check(answer.text)
    assert "contains a secret" in answer.words
    for path, status in ((f"blocks/{SCRIPT}", 400), ("blocks/sly/history", 404)):
        refused = page.get(path)
        assert refused.status == status
        check(refused.text)
    for each in review.list_items(place):
        check(page.do("attention", {"one": f"dismiss {each.id}", "back": "attention"}).text)


def test_a_page_that_only_reads_has_no_forms_and_changes_nothing(
    read_only: Client, place: Place, passage: str
) -> None:
    for path in (*PATHS, f"archive/{passage}"):
        if not path.endswith("/edit"):
            assert 'method="post"' not in read_only.get(path).text, path
    for path in ("archive/static/odd", "sessions/forget", "attention", "blocks/new"):
        assert read_only.post(path, {"one": "accept x", "label": "x"}).status == 403, path
    assert not Path(place.home.local, "visited").exists()
