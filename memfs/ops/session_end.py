"""End a session: queue its transcript for ingest, and commit its memory if configured."""

from memfs import files
from memfs.core import label as labels
from memfs.core import yaml_edit
from memfs.core.errors import StoreError
from memfs.core.events import Event
from memfs.core.records import Origin
from memfs.store import blocks, commit_writer, config, spool, writer
from memfs.store.blocks import Place
from memfs.store.writer import Change


def run(event: Event) -> None:
    """Queue the transcript for ingest, clear session blocks, commit. Raises `StoreError`."""
    place = blocks.find_answering(event)
    if place is None:
        return
    if event.transcript:
        spool.write_note(place.home, event.host, event.transcript, event.session)
    _clear_blocks(place, event)
    note = commit_writer.commit_session(place, Origin("agent", event.host, event.session))
    if note:
        raise StoreError(note)


def _clear_blocks(place: Place, event: Event) -> None:
    """Empty the session's blocks with `clear_on_session_end`; the journal keeps their text."""
    configured = config.load(place).get("blocks")
    for label, each in configured.items() if isinstance(configured, dict) else ():
        if not isinstance(each, dict) or each.get("clear_on_session_end") is not True:
            continue
        if labels.problem(str(label)):
            continue
        path = blocks.path_of(place, labels.SESSION, str(label))
        if not place.session or not files.is_file(path):
            continue
        with writer.writing(place.home, place) as store_writer:
            text, version = store_writer.adopt_current(labels.SESSION, str(label), path)
            block = blocks.make(labels.SESSION, str(label), path, text or "")
            if block.value and not block.read_only and not block.problem:
                head = yaml_edit.drop_outdated(block.head)
                change = Change(labels.SESSION, str(label), path, text, head, "clear", version + 1)
                store_writer.commit(
                    [change], Origin("system", event.host, event.session, "session ended")
                )
