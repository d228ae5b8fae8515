"""What past sessions say about a file that is opened."""

import json
from pathlib import Path

import pytest

from memfs import hosts
from memfs.core import events
from memfs.core.events import Event
from memfs.ops import tool_rules
from memfs.recall import file_recall
from memfs.recall.open_store import OpenStore
from memfs.store.blocks import Place
from tests.search.stores import Corpus, session

TALK = {
    "old": (("user", "rename the field in src/ledger/pay.py please"), ("assistant", "Done.")),
    "new": (
        ("user", "pay.py rounds wrong, fix it. amounts are integers in cents, never floats"),
        ("assistant", "I changed `pay.py`: it keeps amounts as `int` cents, and rounds half up."),
        ("user", "good"),
    ),
    "other": (("user", "payment.py needs a docstring"), ("assistant", "It has one now.")),
    "tool": (("tool", "src/ledger/other.py: 30 lines"), ("assistant", "Nothing odd there.")),
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    corpus = Corpus(tmp_path_factory.mktemp("files"))
    for day, name in enumerate(TALK, 1):
        corpus.write(f"{name}.jsonl", *session(name, day, TALK[name]))
    corpus.update(embed=False)
    return corpus


def find(corpus: Corpus, path: str, session: str = "", shown: tuple[str, ...] = ()) -> str:
    hits = file_recall.find_decisions(corpus.engine(), path, session, shown, 500)
    assert sum(len(hit.snippet) for hit in hits) <= 500
    return "\n".join(f"{hit.at[:10]} {hit.snippet}" for hit in hits)


def test_what_was_decided_about_a_file_is_quoted_with_its_day(corpus: Corpus) -> None:
    text = find(corpus, "src/ledger/pay.py")
    assert "2026-05-02 user: " in text
    assert "amounts are integers in cents" in text
    assert "docstring" not in text, "that is another file"


def test_what_is_running_or_shown_already_is_left_out(corpus: Corpus) -> None:
    assert "cents" not in find(corpus, "src/ledger/pay.py", session="new")
    assert "cents" not in find(corpus, "src/ledger/pay.py", shown=("new-0",))


@pytest.mark.parametrize("path", ["src/ledger/other.py", "src/unknown.py", "Makefile", "x/pay/py"])
def test_a_file_of_which_nobody_spoke_brings_nothing(corpus: Corpus, path: str) -> None:
    assert find(corpus, path) == ""


def test_it_comes_once_with_the_file(place: Place, repo: Path) -> None:
    folder = Path(place.home.local, "recall/claude")
    folder.mkdir(parents=True)
    said = [
        {"id": f"m{n}", "session": "new", "host": "claude", "project": str(repo), "branch": "",
         "at": f"2026-05-02T10:00:0{n}Z", "role": role, "text": text}
        for n, (role, text) in enumerate(TALK["new"])
    ]  # fmt: skip
    (folder / "new.jsonl").write_text("".join(json.dumps(each) + "\n" for each in said))
    engine = OpenStore(place).update_engine("text")
    served = Place(place.project, place.user, "s1")

    def read() -> str:
        event = Event("claude", events.BEFORE, "PreToolUse", "s1", str(repo))
        event.opened = ("src/ledger/pay.py",)
        found = tool_rules.answer(served, event, hosts.get("claude"), [engine])
        text = found.reply.context
        if "cents" in text:
            tool_rules.note_given(served, found)
        return text

    config = repo / ".agent-memory/config.yaml"
    for setting in ("files: rules", "files: off", "recall: off"):
        config.write_text(f"memfs: 1\nhooks:\n  {setting}\n")
        assert read() == ""
    config.write_text("memfs: 1\n")
    assert read().startswith("# Said in earlier sessions about src/ledger/pay.py (reference data,")
    assert read() == ""
