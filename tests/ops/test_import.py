"""Import of blocks: checked before anything is written, merged without loss, the same again."""

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from memfs.core.body_edits import Append, Create
from memfs.core.errors import StoreError
from memfs.core.records import ACCEPTED, Fact, Origin
from memfs.ops import edit, history, undo
from memfs.store import archive as passages
from memfs.store import blocks, facts, lock
from memfs.store.blocks import Place
from tests.ops.imports import everything, exported, made, outcomes, packed, refusals, run
from tests.ops.test_purge import SECRET, replays

WRITE = Callable[[str, str], Path]


def test_what_is_not_here_is_added(place: Place, there: Place, tmp_path: Path) -> None:
    done = run(place, exported(there, tmp_path))
    [ident] = [item.name for item in done.items if item.kind == "passage"]
    assert outcomes(done) == {"api": "new", "persona": "same", "system_rules": "same", ident: "new"}
    assert blocks.get(place, "api").value == "five seconds\nretry twice"
    [entry] = history.log(place, "api")
    assert (entry.op, entry.version) == ("import", 1)
    assert (entry.actor, entry.reason) == ("user", "from m.zip")
    [path] = passages.sources(place.home)
    assert Path(path).read_bytes() == Path(passages.sources(there.home)[0]).read_bytes()
    assert (done.config, done.edits, done.left_out) == (True, 3, 0)


def test_a_fact_that_is_stored_during_an_import_stays(place: Place, tmp_path: Path) -> None:
    bundle = packed(tmp_path, {"facts/2026-05.jsonl": '{"statement": "imported"}\n'})
    importing = threading.Thread(target=run, args=(place, bundle))
    stored = Fact("f", "stored", 1.0, "rule", at="2026-05-03T10:00:00Z", status=ACCEPTED)
    with lock.hold_lock(place.home, name=lock.KINDS):
        facts.write_facts(place.home, [replace(stored, id="e")])
        importing.start()
        importing.join(0.3)
        facts.write_facts(place.home, [stored])
    importing.join()
    [path] = facts.sources(place.home)
    lines = Path(path).read_text().splitlines()
    assert [json.loads(line)["statement"] for line in lines] == ["stored", "stored", "imported"]


def test_again_it_changes_nothing(place: Place, there: Place, tmp_path: Path) -> None:
    path = exported(there, tmp_path)
    run(place, path)
    before = everything(place)
    again = run(place, path)
    assert set(outcomes(again).values()) == {"same"}
    assert again.entries == ()
    assert everything(place) == before


def test_blocks_of_both_sides_are_merged_and_can_be_undone(
    place: Place, there: Place, tmp_path: Path
) -> None:
    edit.run(place, [Create("api", "The API", "five seconds\nuse TLS")], Origin())
    edit.run(place, [Append("persona", "ours")], Origin())
    edit.run(there, [Append("persona", "theirs")], Origin())
    path = exported(there, tmp_path)
    done = run(place, path)
    assert len({entry.group for entry in done.entries}) == 1
    lines = sorted(blocks.get(place, "api").value.split("\n"))
    assert lines == ["five seconds", "retry twice", "use TLS"]
    assert {"ours", "theirs"} < set(blocks.get(place, "persona").value.split("\n"))
    assert "+retry twice\n" in next(item.detail for item in done.items if item.name == "api")
    assert set(outcomes(run(place, path)).values()) == {"same"}
    for label in ("api", "persona"):
        undo.undo_edit(place, label, Origin())
    assert blocks.get(place, "api").value == "five seconds\nuse TLS"
    replays(place, place.home)


def test_a_block_that_nobody_wrote_in_yet_is_theirs(place: Place, tmp_path: Path) -> None:
    run(place, made(tmp_path, persona="---\ndescription: me\n---\nI am somebody else.\n"))
    assert blocks.get(place, "persona").value == "I am somebody else."


def test_a_dry_run_says_the_same_and_writes_nothing(
    place: Place, there: Place, tmp_path: Path
) -> None:
    edit.run(place, [Create("api", "The API", "use TLS")], Origin())
    path = exported(there, tmp_path)
    before = everything(place)
    dry = run(place, path, dry_run=True)
    assert everything(place) == before
    assert dry.items == run(place, path).items


def test_config_and_history_are_never_taken_over(
    place: Place, there: Place, tmp_path: Path
) -> None:
    Path(there.home.root, "config.yaml").write_text("memfs: 1\nmax_blocks: 99\n")
    before = Path(place.home.root, "config.yaml").read_bytes()
    run(place, exported(there, tmp_path))
    assert Path(place.home.root, "config.yaml").read_bytes() == before
    assert [entry.op for entry in history.log(place, "api")] == ["import"]


def test_secrets_are_refused_item_by_item(place: Place, tmp_path: Path) -> None:
    fact = json.dumps({"statement": f"use {SECRET}"})
    given = {
        "blocks/bad.md": f"one\nuse {SECRET}\n",
        "blocks/good.md": "fine\n",
        "archive/2026-05/p1.md": SECRET,
        "archive/2026-05/p2.md": "fine",
        "facts/2026-05.jsonl": f'{fact}\n{{"statement": "fine"}}\n',
        "static/k.md": SECRET,
    }
    path = packed(tmp_path, given)
    done = run(place, path)
    assert refusals(done) == [
        "cannot import 'bad': line 2 looks like a secret (github-token)",
        "cannot import 'p1': line 1 looks like a secret (github-token)",
        "cannot import line 1 of facts/2026-05.jsonl: it contains a secret (github-token)",
        "cannot import 'k': line 1 looks like a secret (github-token)",
    ]
    assert blocks.get(place, "good").value == "fine"
    assert SECRET.encode() not in b"".join(everything(place).values())
    assert b'"statement": "fine"' in b"".join(everything(place).values())


def test_what_is_private_is_left_out(place: Place, tmp_path: Path) -> None:
    given = {
        "blocks/a.md": "---\ndescription: d\n---\nkept<private>not this</private>\n",
        "archive/2026-05/p.md": "kept too <private>nor this</private>",
    }
    run(place, packed(tmp_path, given))
    found = b"".join(everything(place).values())
    assert blocks.get(place, "a").value == "kept"
    assert b"kept too" in found
    assert b"not this" not in found
    assert b"nor this" not in found


def test_a_block_that_is_read_only_here_is_left(
    place: Place, tmp_path: Path, block_file: WRITE
) -> None:
    path = block_file("a", "---\nread_only: true\n---\nours\n")
    done = run(place, made(tmp_path, a="theirs\n"))
    assert refusals(done) == ["cannot import 'a': the existing block is read-only"]
    assert path.read_text().endswith("---\nours\n")


def test_a_block_that_would_be_over_its_limit_is_left(place: Place, tmp_path: Path) -> None:
    edit.run(place, [Create("a", "d", "ours", 20)], Origin())
    done = run(place, made(tmp_path, a="x" * 30, b="---\nlimit: 5\n---\n123456\n"))
    assert refusals(done) == [
        "cannot write 'a': 35 characters, the limit is 20",
        "cannot write 'b': 6 characters, the limit is 5",
    ]
    assert blocks.get(place, "a").value == "ours"


def test_more_pinned_blocks_than_may_be_are_listed_by_name_only(
    place: Place, tmp_path: Path
) -> None:
    path = made(tmp_path, **{f"b{n}": "x\n" for n in range(12)})
    assert run(place, path).unpinned == ("b5", "b6", "b7", "b8", "b9")
    assert sum(block.pinned for block in blocks.load(place)) == 10
    assert len(blocks.load(place)) == 15
    again = run(place, path)
    assert set(outcomes(again).values()) == {"same"}
    assert again.unpinned == ()


def test_what_would_take_long_to_look_at_is_refused(place: Place, tmp_path: Path) -> None:
    given = {
        "blocks/a.md": "x\n" * (5 << 20),
        "blocks/b.md": f"---\na: {'x' * 30_000}\n---\n",
        "archive/2026-05/p.md": "x " * 60_000,
    }
    done = run(place, packed(tmp_path, given))
    whys = [why.partition(": ")[2][:15] for why in refusals(done)]
    assert whys == ["it is too large", "it is too large", "120,000 charact"]


def test_without_a_project_it_says_what_to_do(place: Place, tmp_path: Path) -> None:
    outside = blocks.find_place(str(tmp_path))
    with pytest.raises(StoreError, match="no project store"):
        run(outside, made(tmp_path, a="x\n"))
    run(outside, made(tmp_path, a="x\n"), user=True)
    assert blocks.get(outside, "a").value == "x"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("\udcff\n", "it is not UTF-8 text"),
        ("a\x1bb\n", "the text contains control characters"),
        ("---\na: [1\n---\nx\n", "its front matter"),
    ],
)
def test_what_is_no_sound_text_is_refused(
    place: Place, tmp_path: Path, text: str, why: str
) -> None:
    [refused] = refusals(run(place, made(tmp_path, a=text)))
    assert why in refused
    [refused] = refusals(run(place, packed(tmp_path, {"archive/2026-05/p.md": text})))
    assert why in refused


def test_labels_are_made_as_everywhere_and_checked(place: Place, tmp_path: Path) -> None:
    given = {"My Notes": "x\n", "my_notes": "y\n", "con": "x\n", "a/b/c/d": "x\n", "ü": "x\n"}
    done = run(place, made(tmp_path, **given))
    assert len(refusals(done)) == 4
    assert blocks.get(place, "my_notes").value == "x"
