"""Import: checked before anything is written, merged without loss, the same when done again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memfs.core.edits import Append, Create, Delete
from memfs.core.errors import StoreError
from memfs.core.records import Origin
from memfs.ops import archive, edit, export, history, import_, init
from memfs.ops.import_ import Imported
from memfs.store import archive as passages
from memfs.store import blocks, bundle, recall
from memfs.store.blocks import Place
from tests.ops.test_purge import SECRET, put, replays
from tests.store.test_bundle import zipped

WRITE = Callable[[str, str], Path]
BY = Origin("user", reason="from m.zip")


@pytest.fixture
def there(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Another project, of another user, with something in it."""
    monkeypatch.setenv("HOME", str(tmp_path / "other"))
    init.run(str(tmp_path / "there"), str(tmp_path / "other"))
    place = blocks.here(str(tmp_path / "there"))
    monkeypatch.setenv("HOME", str(home))
    edit.run(place, [Create("api", "The API", "five seconds\nretry twice")], Origin("agent"))
    archive.run(place, "Green tea at 70 degrees.", importance=7, tags=("tea",))
    return place


def exported(place: Place, tmp_path: Path, *, user: bool = False, everything: bool = True) -> str:
    path = str(tmp_path / "m.zip")
    export.run(place, path, user=user, everything=everything, force=True, anyway=True)
    return path


def made(tmp_path: Path, **files: str) -> str:
    """A zip made by hand, of blocks by their labels."""
    return packed(tmp_path, {f"blocks/{label}.md": text for label, text in files.items()})


def packed(tmp_path: Path, files: dict[str, str]) -> str:
    path = tmp_path / "hand.zip"
    members = ((name, text.encode("utf-8", "surrogateescape")) for name, text in files.items())
    path.write_bytes(zipped(("config.yaml", b"memfs: 1\n"), *members))
    return str(path)


def run(
    place: Place, path: str, *, user: bool = False, anyway: bool = False, dry_run: bool = False
) -> Imported:
    return import_.run(place, path, BY, user=user, anyway=anyway, dry_run=dry_run)


def outcomes(done: Imported) -> dict[str, str]:
    return {item.name: item.outcome for item in done.items}


def refusals(done: Imported) -> list[str]:
    return [item.detail for item in done.items if item.outcome == "refused"]


def everything(place: Place) -> dict[str, bytes]:
    assert place.project
    root = Path(place.project.root)
    found = [path for path in root.rglob("*") if path.is_file()]
    return {str(path): path.read_bytes() for path in found if path.suffix != ".lock"}


def test_what_is_not_here_is_added(place: Place, there: Place, tmp_path: Path) -> None:
    done = run(place, exported(there, tmp_path))
    [ident] = [item.name for item in done.items if item.kind == "passage"]
    assert outcomes(done) == {
        "api": "new", "persona": "same", "system_rules": "same", ident: "new",
    }  # fmt: skip
    assert blocks.get(place, "api").value == "five seconds\nretry twice"
    [entry] = history.log(place, "api")
    assert (entry.op, entry.version, entry.actor, entry.reason) == ("import", 1, "user", BY.reason)
    [path] = passages.sources(place.home)
    assert Path(path).read_bytes() == Path(passages.sources(there.home)[0]).read_bytes()
    assert (done.config, done.edits, done.left_out) == (True, 3, 0)


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
    assert sorted(blocks.get(place, "api").value.split("\n")) == [
        "five seconds", "retry twice", "use TLS",
    ]  # fmt: skip
    assert {"ours", "theirs"} < set(blocks.get(place, "persona").value.split("\n"))
    assert "+retry twice\n" in next(item.detail for item in done.items if item.name == "api")
    assert set(outcomes(run(place, path)).values()) == {"same"}
    for label in ("api", "persona"):
        history.undo(place, label, Origin())
    assert blocks.get(place, "api").value == "five seconds\nuse TLS"
    assert place.project
    replays(place, place.project)


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
    path = packed(tmp_path, {
        "blocks/bad.md": f"one\nuse {SECRET}\n", "blocks/good.md": "fine\n",
        "archive/2026-05/p1.md": SECRET, "archive/2026-05/p2.md": "fine",
        "facts/2026-05.jsonl": f'{fact}\n{{"statement": "fine"}}\n',
        "static/k.md": SECRET,
    })  # fmt: skip
    done = run(place, path)
    assert refusals(done) == [
        "cannot import 'bad': line 2 holds a secret (github-token)",
        "cannot import 'p1': line 1 holds a secret (github-token)",
        "cannot import line 1 of facts/2026-05.jsonl: it holds a secret (github-token)",
        "cannot import 'k': line 1 holds a secret (github-token)",
    ]
    assert blocks.get(place, "good").value == "fine"
    assert SECRET.encode() not in b"".join(everything(place).values())
    assert b'"statement": "fine"' in b"".join(everything(place).values())


def test_what_is_private_is_left_out(place: Place, tmp_path: Path) -> None:
    run(place, packed(tmp_path, {
        "blocks/a.md": "---\ndescription: d\n---\nkept<private>not this</private>\n",
        "archive/2026-05/p.md": "kept too <private>nor this</private>",
    }))  # fmt: skip
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
    assert refusals(done) == ["cannot import 'a': it is read-only here"]
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
    done = run(place, packed(tmp_path, {
        "blocks/a.md": "x\n" * (5 << 20), "blocks/b.md": f"---\na: {'x' * 30_000}\n---\n",
        "archive/2026-05/p.md": "x " * 60_000,
    }))  # fmt: skip
    assert [why.partition(": ")[2][:15] for why in refusals(done)] == [
        "it is too large", "it is too large", "120,000 charact",
    ]  # fmt: skip


def test_without_a_project_it_says_what_to_do(home: Path, place: Place, tmp_path: Path) -> None:
    outside = blocks.here(str(tmp_path))
    with pytest.raises(StoreError, match="no project store"):
        run(outside, made(tmp_path, a="x\n"))
    run(outside, made(tmp_path, a="x\n"), user=True)
    assert blocks.get(outside, "a").value == "x"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("\udcff\n", "it is not UTF-8 text"),
        ("a\x1bb\n", "the text holds control characters"),
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
    done = run(place, made(tmp_path, **{
        "My Notes": "x\n", "my_notes": "y\n", "con": "x\n", "a/b/c/d": "x\n", "ü": "x\n",
    }))  # fmt: skip
    assert len(refusals(done)) == 4
    assert blocks.get(place, "my_notes").value == "x"


def test_a_passage_with_the_id_of_another_gets_a_new_one(place: Place, tmp_path: Path) -> None:
    put(f"{place.home.root}/archive/2026-05/p1.md", "ours")
    path = packed(tmp_path, {
        "archive/2026-05/p1.md": "theirs", "archive/2026-06/P1.md": "third",
        "archive/my note.md": "---\ncreated_at: 2025-01-02\n---\nby hand",
        "archive/2026-05/nul.md": "a device",
    })  # fmt: skip
    run(place, path)
    texts = {each.text for each in map(passages.read, passages.sources(place.home)) if each}
    assert texts == {"ours", "theirs", "third", "by hand", "a device"}
    assert Path(place.home.root, "archive/2026-05/p1.md").read_text() == "ours"
    names = [Path(each).stem.lower() for each in passages.sources(place.home)]
    assert len(set(names)) == 5
    assert "nul" not in names
    assert any("archive/2025-01/" in each for each in passages.sources(place.home))
    assert set(outcomes(run(place, path)).values()) == {"same"}


def test_facts_are_united_and_static_entries_stay(place: Place, tmp_path: Path) -> None:
    put(f"{place.home.root}/facts/2026-05.jsonl", '{"statement": "a"}')
    put(f"{place.home.root}/static/k.md", "ours\n")
    done = run(place, packed(tmp_path, {
        "facts/2026-05.jsonl": '{"statement": "a"}\n{"statement": "b"}\n[1]\n',
        "facts/notes.jsonl": "{}\n", "static/k.md": "theirs\n", "static/new.md": "x\n",
    }))  # fmt: skip
    facts = Path(place.home.root, "facts/2026-05.jsonl").read_text()
    assert facts == '{"statement": "a"}\n{"statement": "b"}\n'
    assert Path(place.home.root, "static/k.md").read_text() == "ours\n"
    assert Path(place.home.root, "static/new.md").read_text() == "x\n"
    assert len(refusals(done)) == 3


def said(*texts: str, **more: object) -> str:
    lines = []
    for number, text in enumerate(texts):
        lines.append({"id": f"m{number}", "session": "s", "host": "claude", "project": "/p",
                      "branch": "", "at": "", "role": "user", "text": text, **more})  # fmt: skip
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_sessions_are_added_as_our_own_ingestion_keeps_them(place: Place, tmp_path: Path) -> None:
    token = f"{SECRET} <private>x</private>"
    done = run(place, packed(tmp_path, {
        "local/recall/claude/s.jsonl": said("hello", token) + "no json\n" + said("again"),
        "local/recall/claude/t.jsonl": said("x", text=5),
        "local/recall/s.jsonl": said("x"), "local/recall/claude/-s.jsonl": said("x"),
    }))  # fmt: skip
    [path] = recall.sources(place.home)
    assert [each.text for each in recall.messages(path)] == ["hello", "[redacted:github-token]"]
    assert len(refusals(done)) == 3
    again = run(place, packed(tmp_path, {"local/recall/claude/s.jsonl": said("other")}))
    assert outcomes(again) == {"claude/s.jsonl": "same"}
    assert [each.text for each in recall.messages(path)] == ["hello", "[redacted:github-token]"]


def test_an_export_of_the_user_goes_to_the_user(place: Place, there: Place, tmp_path: Path) -> None:
    edit.run(there, [Append("human", "Name: Alice")], Origin())
    path = exported(there, tmp_path, user=True)
    with pytest.raises(StoreError, match="export of a user store"):
        run(place, path)
    run(place, path, user=True)
    assert blocks.get(place, "human").value == "Name: Alice"
    assert run(place, path, anyway=True)
    assert blocks.get(place, "project:human").value == "Name: Alice"


def test_a_deleted_block_comes_back_as_a_newer_version(
    place: Place, there: Place, tmp_path: Path
) -> None:
    edit.run(place, [Create("api", "d", "ours")], Origin())
    edit.run(place, [Delete("api")], Origin())
    run(place, exported(there, tmp_path))
    assert blocks.get(place, "api").version == 3
    history.undo(place, "api", Origin())
    assert blocks.locate(place, "api") is None


def test_nothing_is_written_if_the_file_is_not_safe(place: Place, tmp_path: Path) -> None:
    before = everything(place)
    with pytest.raises(StoreError):
        run(place, packed(tmp_path, {"blocks/good.md": "x\n", "../evil.md": "x\n"}))
    assert everything(place) == before


def test_a_folder_that_leads_out_of_the_store_is_not_followed(place: Place, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    Path(place.home.root, "static").symlink_to(tmp_path / "out")
    before = everything(place)
    with pytest.raises(StoreError, match="leads out of the store"):
        run(place, packed(tmp_path, {"blocks/good.md": "x\n", "static/k.md": "x\n"}))
    assert everything(place) == before
    assert not list((tmp_path / "out").iterdir())


def test_files_that_are_no_memory_are_counted(place: Place, tmp_path: Path) -> None:
    done = run(place, packed(tmp_path, {
        "README.md": "x", "blocks/a.txt": "x", "local/index/x": "x", "archive/.DS_Store": "x",
        "local/sessions/s/working.md": "x", "blocks/._a.md": "x",
    }))  # fmt: skip
    assert (done.items, done.left_out) == ((), 6)


LINES = st.lists(st.sampled_from(["", "a", "b", "- c", "- d", "# e", "f  ", "g"]), max_size=8)
HEADS = st.one_of(
    st.none(),
    st.fixed_dictionaries({}, optional={
        "description": st.sampled_from(["one", "two: three", "four # five"]),
        "limit": st.sampled_from([500, 900]), "pinned": st.booleans(),
        "tags": st.lists(st.sampled_from("xyz"), max_size=2), "own": st.sampled_from([1, "two"]),
        "version": st.integers(0, 4), "updated_at": st.sampled_from([
            "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", "soon",
        ]),
    }),
)  # fmt: skip


def text_of(head: dict[str, object] | None, lines: list[str]) -> str:
    keys = "".join(f"{key}: {json.dumps(value)}\n" for key, value in (head or {}).items())
    return ("" if head is None else f"---\n{keys}---\n") + "\n".join(lines)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(HEADS, LINES, HEADS, LINES)
def test_nothing_either_side_wrote_is_missing_and_again_nothing_changes(
    place: Place, tmp_path: Path, head: dict[str, object] | None, ours: list[str],
    their_head: dict[str, object] | None, theirs: list[str],
) -> None:  # fmt: skip
    assert place.project
    path = Path(place.project.root, "blocks/a.md")
    path.unlink(missing_ok=True)
    history.log(place)
    path.write_text(text_of(head, ours))
    hand = made(tmp_path, a=text_of(their_head, theirs))
    run(place, hand)
    got = blocks.get(place, "project:a").body.split("\n")
    assert {line for line in ours + theirs if line.strip()} <= set(got)
    before = path.read_bytes()
    assert outcomes(run(place, hand)) == {"a": "same"}
    assert path.read_bytes() == before


def test_all_that_an_export_holds_is_in_a_fresh_store_afterwards(
    place: Place, there: Place, tmp_path: Path
) -> None:
    put(f"{there.home.root}/facts/2026-05.jsonl", '{"statement": "a"}\n')
    put(f"{there.home.root}/static/limits.md", "five\n")
    put(f"{there.home.local}/recall/claude/s.jsonl", said("hello"))
    path = exported(there, tmp_path)
    run(place, path)
    before = bundle.read(path).files
    after = bundle.read(exported(place, tmp_path)).files
    assert after.keys() == before.keys()
    whole = [name for name in before if name.startswith(("archive/", "facts/", "static/"))]
    assert {name: after[name] for name in whole} == {name: before[name] for name in whole}
    assert len(whole) == 3
