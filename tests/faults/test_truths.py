"""What else is kept: stores, passages, sessions, other people's settings, interrupted anywhere."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from memfs.core import events
from memfs.core import label as labels
from memfs.core.body_edits import Append
from memfs.core.events import Event
from memfs.ingest import transcripts
from memfs.ingest.transcripts import Tally
from memfs.ops import archive as archiving
from memfs.ops import brief, doctor, history, init, install, session_end, sync
from memfs.ops import trust as trusting
from memfs.store import archive, blocks, journal_query, recall, sessions, spool, store_paths, trust
from tests.faults.checks import check_blocks, check_journal, go_on, open_anew
from tests.faults.harness import ERRORS, KILLS, Fault
from tests.faults.power import LOSSES
from tests.faults.world import ANY, FAULTS_AND_POWER, ORIGIN, SESSION, Seen, World, exercise
from tests.hosts.transcript_lines import conversation

Files = dict[str, bytes]


def no_leftovers(world: World, fault: Fault) -> None:
    """An error leaves no temporary file; one that a kill left is named by `memfs doctor`."""
    left = world.temporaries()
    assert not left or fault.kind in KILLS
    if left:
        found = "\n".join(each.text for each in doctor.run(world.place(), str(world.home)))
        assert [path for path in left if path not in found] == []


def made(world: World) -> Files:
    """What init writes, but for what has random ids in it.

    A local folder that a kill left without its token is not believed: there is `local-2`, then.
    """
    kept = world.files()
    return {path: data for path, data in kept.items() if "/local" not in path}


def check_init(world: World, seen: Seen[Files]) -> None:
    for path, data in made(world).items():
        assert path.endswith(".tmp") or data == seen.new[path]
    if seen.fault.kind in ERRORS:
        assert not world.temporaries()
    if seen.result.done:
        open_anew(world)
        labels_made = {entry.label for entry in history.log(world.place())}
        assert labels_made == {"persona", "system_rules", "human"}
    init.run(str(world.repo), str(world.home))
    assert {path: data for path, data in made(world).items() if path[-4:] != ".tmp"} == seen.new
    open_anew(world)
    for tier, store in world.place().list_tiers():
        if tier != labels.SESSION:
            check_journal(world, store)
    go_on(world, world.texts(), set())


@FAULTS_AND_POWER
def test_init(bare: World, kinds: Sequence[str]) -> None:
    step = partial(init.run, str(bare.repo), str(bare.home))
    assert exercise(bare, [step], partial(made, bare), partial(check_init, bare), kinds)


def passages(world: World) -> list[str]:
    store = world.place().home
    found = [archive.read(path) for path in archive.sources(store)]
    return sorted(each.text if each and each.created_at else "half" for each in found)


def keep(world: World, text: str) -> archiving.ArchivedPassage:
    return archiving.run(world.place(), text, importance=5, tags=("tea",), origin=ORIGIN)


def check_passages(world: World, texts: Sequence[str], seen: Seen[list[str]]) -> None:
    assert passages(world) in (seen.old, seen.new)
    no_leftovers(world, seen.fault)
    for text in texts:
        keep(world, text)
        assert passages(world).count(text) == 1


@FAULTS_AND_POWER
def test_archive(world: World, kinds: Sequence[str]) -> None:
    texts = ("Green tea is best at 70 degrees.", "Black tea likes 95.")
    steps = [partial(keep, world, text) for text in texts]
    check = partial(check_passages, world, texts)
    assert exercise(world, steps, partial(passages, world), check, kinds)


MARK = b"memfs hook claude"
FOREIGN = '{\n    "model": "opus",\n    "hooks": {"Stop": []}\n}'


def settings(world: World) -> bytes | None:
    path = world.repo / ".claude/settings.json"
    return path.read_bytes() if path.exists() else None


def wire(world: World, *, remove: bool = False) -> list[install.SettingsEdit]:
    return install.run(world.place(), "claude", "project", str(world.home), remove=remove)


def check_settings(world: World, seen: Seen[bytes | None], *, remove: bool) -> None:
    """The file is as it was or as it should be; the same again works, and so does the other way."""
    assert settings(world) in (seen.old, seen.new)
    if seen.fault.kind in ERRORS:
        assert not world.temporaries()
    wire(world, remove=remove)
    assert (MARK in (settings(world) or b"")) != remove
    wire(world, remove=not remove)
    assert (MARK in (settings(world) or b"")) == remove


def check_bytes(world: World, before: bytes | None, _: Seen[bytes | None]) -> None:
    wire(world)
    wire(world, remove=True)
    assert settings(world) == before


@FAULTS_AND_POWER
@pytest.mark.parametrize("remove", [False, True], ids=["install", "uninstall"])
def test_settings(world: World, kinds: Sequence[str], remove: bool) -> None:
    (world.repo / ".claude").mkdir()
    (world.repo / ".claude/settings.json").write_text(FOREIGN)
    if remove:
        wire(world)
    step = partial(wire, world, remove=remove)
    check = partial(check_settings, world, remove=remove)
    assert exercise(world, [step], partial(settings, world), check, kinds)


def test_settings_that_did_not_exist(world: World) -> None:
    steps = [partial(wire, world), partial(wire, world, remove=True)]
    check = partial(check_settings, world, remove=False)
    assert exercise(world, steps, partial(settings, world), check, ANY)


def test_settings_get_their_very_bytes_back_after_any_fault(world: World) -> None:
    (world.repo / ".claude").mkdir()
    (world.repo / ".claude/settings.json").write_text(FOREIGN)
    check = partial(check_bytes, world, FOREIGN.encode())
    exercise(world, [partial(wire, world)], partial(settings, world), check, ANY)


def test_settings_that_were_removed_stay_away(world: World) -> None:
    wire(world)
    step = partial(wire, world, remove=True)
    check = partial(check_settings, world, remove=True)
    exercise(world, [step], partial(settings, world), check, LOSSES)


def event(world: World, kind: str, prompt: str = "") -> Event:
    transcript = str(world.root / "t.jsonl")
    return Event("claude", kind, kind, SESSION, str(world.repo), transcript, "", prompt)


def shown(world: World) -> tuple[dict[str, str], list[str]] | None:
    found = sessions.load(world.place().home, SESSION)
    return (found.blocks, found.hits) if found else None


def check_shown(world: World, seen: Seen[object]) -> None:
    assert shown(world) in (seen.old, seen.new, None)  # None: it was given, and not noted
    no_leftovers(world, seen.fault)
    brief.run(event(world, events.PROMPT, "go on"))
    assert brief.run(event(world, events.PROMPT, "go on")).context == ""


@FAULTS_AND_POWER
def test_what_a_session_was_shown(world: World, kinds: Sequence[str]) -> None:
    steps = [partial(brief.run, event(world, events.START))]
    assert exercise(world, steps, partial(shown, world), partial(check_shown, world), kinds)


def waiting(world: World) -> list[str]:
    return [path for _, _, path, _ in spool.list_notes(world.place().home)]


def check_inbox(world: World, seen: Seen[list[str]]) -> None:
    assert waiting(world) in (seen.old, seen.new, [] if seen.fault.loss else seen.old)
    no_leftovers(world, seen.fault)
    store = world.place().home
    session_end.run(event(world, events.END))
    transcripts.drain(store, Tally())
    assert waiting(world) == []
    [path] = recall.sources(store)
    assert [each.id for each in recall.messages(path)] == ["u0", "u1"]


def drain(world: World) -> None:
    transcripts.drain(world.place().home, Tally())


@FAULTS_AND_POWER
def test_the_inbox(world: World, kinds: Sequence[str]) -> None:
    (world.root / "t.jsonl").write_bytes(conversation(2))
    steps: list[Callable[[], object]] = [
        partial(session_end.run, event(world, events.END)),
        partial(drain, world),
    ]
    assert exercise(world, steps, partial(waiting, world), partial(check_inbox, world), kinds)


def trusted(world: World) -> tuple[bool, dict[str, str]]:
    store = world.place().project
    assert store
    known = trust.load_accepted(store)
    return store_paths.is_trusted(store), known.there if known else {}


def check_trusted(world: World, seen: Seen[tuple[bool, dict[str, str]]]) -> None:
    """A store is trusted or it is not; one that is, with the texts that were there."""
    known, texts = trusted(world)
    assert (known, texts) in (seen.old, seen.new) or (not known and texts == seen.new[1])
    no_leftovers(world, seen.fault)
    trusting.accept(world.place())
    assert trusted(world)[0]


@FAULTS_AND_POWER
@pytest.mark.parametrize("given", [True, False], ids=["given", "taken"])
def test_trust(world: World, kinds: Sequence[str], given: bool) -> None:
    place = world.place()
    if given:
        trusting.revoke(place)
    step = partial(trusting.accept if given else trusting.revoke, place)
    assert exercise(world, [step], partial(trusted, world), partial(check_trusted, world), kinds)


CONFLICT = "one\n<<<<<<< ours\nmine\n=======\ntheirs\n>>>>>>> theirs\n"
WORDS = ("mine", "theirs", "in capitals", "sixteen", "three")


def broken(world: World) -> None:
    """A conflict, two files with one label, and a file that is not UTF-8."""
    folder = world.repo / ".agent-memory/blocks"
    (folder / "conflict.md").write_text(CONFLICT)
    (folder / "NOTES.md").write_text("in capitals\n")
    (folder / "wide.md").write_bytes("sixteen\n".encode("utf-16"))


def list_labels(world: World) -> list[str]:
    return [label for _, label, _ in blocks.paths(world.place())]


def words(world: World) -> set[str]:
    """Return which of the words are in a block, as it can be read."""
    text = "\n".join(block.value for block in blocks.load(world.place()))
    return {word for word in WORDS if word in text}


def check_mended(world: World, seen: Seen[list[str]]) -> None:
    assert words(world) == set(WORDS)
    if seen.result.done:
        assert len(set(list_labels(world))) == len(list_labels(world)), (
            "what was given a name has it alone"
        )
    open_anew(world)
    doctor.fix(world.place(), str(world.home))
    assert doctor.fix(world.place(), str(world.home)) == []
    assert words(world) == set(WORDS)
    assert len(set(list_labels(world))) == len(list_labels(world))
    journal_query.list_entries(world.place())
    for store in world.place().stores():
        check_journal(world, store)


@FAULTS_AND_POWER
@pytest.mark.parametrize("alone", [True, False], ids=["a name", "everything"])
def test_mending(world: World, kinds: Sequence[str], alone: bool) -> None:
    broken(world)
    if alone:  # nothing that comes later makes the folder durable
        by_hand = world.repo / ".agent-memory/blocks"
        (by_hand / "conflict.md").write_text("mine\ntheirs\n")
        (by_hand / "wide.md").write_text("sixteen\n")
    step = partial(lambda: doctor.fix(world.place(), str(world.home)))
    assert exercise(world, [step], partial(list_labels, world), partial(check_mended, world), kinds)


NAMES = ("agents", "cursor")


def paths(world: World) -> list[Path]:
    return [world.repo / "AGENTS.md", world.repo / ".cursor/rules/memfs.mdc"]


def texts(world: World) -> list[bytes | None]:
    return [path.read_bytes() if path.exists() else None for path in paths(world)]


def put(world: World, *, remove: bool = False) -> None:
    sync.run(world.place(), NAMES, remove=remove)


def check_sections(world: World, seen: Seen[list[bytes | None]], *, remove: bool = False) -> None:
    for found, old, new in zip(texts(world), seen.old, seen.new, strict=True):
        assert found in (old, new)
    no_leftovers(world, seen.fault)
    put(world, remove=remove)
    assert texts(world) == seen.new
    put(world, remove=True)
    assert texts(world) == [b"# Ours", None]


@FAULTS_AND_POWER
@pytest.mark.parametrize("remove", [False, True], ids=["put", "taken"])
def test_sections(world: World, kinds: Sequence[str], remove: bool) -> None:
    (world.repo / "AGENTS.md").write_bytes(b"# Ours")
    if remove:
        put(world)
    step = partial(put, world, remove=remove)
    assert exercise(
        world, [step], partial(texts, world), partial(check_sections, world, remove=remove), kinds
    )


def check_edit(world: World, seen: Seen[dict[str, str | None]]) -> None:
    for path in paths(world):
        for left in path.parent.glob(f".{path.name}.*.tmp"):  # `check_sections` has doctor name it
            assert seen.fault.kind in KILLS
            left.unlink()
    check_blocks(world, seen)


def test_an_edit_that_renews_them_is_there_wholly_or_not_at_all(world: World) -> None:
    config = world.repo / ".agent-memory/config.yaml"
    config.write_text(f"{config.read_text()}\nsync:\n  on_edit: true\n")
    put(world)
    step = partial(world.edit, Append("notes", "four"))
    assert exercise(world, [step], world.texts, partial(check_edit, world), ANY)
    assert b"four" in (texts(world)[0] or b"")
