"""End a session: leave word of its transcript, and commit what it remembered if asked to."""

from memfs import files
from memfs.core import frontmatter, yaml_edit
from memfs.core import label as labels
from memfs.core.errors import StoreError
from memfs.core.events import Event
from memfs.core.records import Origin
from memfs.store import autocommit, blocks, clock, config, spool, writer
from memfs.store.blocks import Place
from memfs.store.writer import Change


def run(event: Event) -> None:
    """Put the session's transcript on the list of what the next ingest reads.

    Raises `StoreError` with the reason where a commit was asked for and could not be made.
    """
    place = blocks.find_answering(event)
    if place is None:
        return
    if event.transcript:
        spool.write_note(place.home, event.host, event.transcript, event.session)
    _clear(place, event)
    note = autocommit.commit_session(place, Origin("agent", event.host, event.session))
    if note:
        raise StoreError(note)


def _clear(place: Place, event: Event) -> None:
    """Empty the session's blocks that are configured to end with it; the journal keeps them."""
    wanted = config.load(place).get("blocks")
    for label, each in wanted.items() if isinstance(wanted, dict) else ():
        if not isinstance(each, dict) or each.get("clear_on_session_end") is not True:
            continue
        if labels.problem(str(label)):
            continue
        path = blocks.path_of(place, labels.SESSION, str(label))
        if not place.session or not files.is_file(path):
            continue
        with writer.writing(place.home, place) as made:
            text, version = made.adopt_current(labels.SESSION, str(label), path)
            block = blocks.make(labels.SESSION, str(label), path, text or "")
            if block.value and not block.read_only and not block.problem:
                head = yaml_edit.set_keys(
                    block.head,
                    version + 1,
                    clock.now(),
                    "system",
                    eol=frontmatter.line_end(block.raw),
                )
                change = Change(labels.SESSION, str(label), path, text, head, "clear", version + 1)
                made.commit([change], Origin("system", event.host, event.session, "session ended"))
