"""What the start of a session is told: the whole brief, and what the person is told. Hot path."""

from memfs import files
from memfs.context import brief_text
from memfs.core.escaping import flatten_text, make_plain
from memfs.store import host_sessions, store_paths, trust
from memfs.store.blocks import Place


class WholeBrief:
    """The whole brief: `shown` are the texts it was made of, `notice` is for the person."""

    __slots__ = ("notice", "shown", "text")

    def __init__(self, text: str, shown: dict[str, str], notice: str) -> None:
        self.text, self.shown, self.notice = text, shown, notice


def compose_whole(place: Place, *, tools: bool, note: bool) -> WholeBrief:
    """Return the whole brief of a place.

    `tools`: the assistant is offered ours. `note`: a session starts, and the person is told now
    what others changed and which rules are in no block.
    """
    notice = ""
    if note:
        brief_text.create_scratch_block(place)
        if place.session:
            host_sessions.note_session(place.home, place.session)
    if place.project and trust.is_behind(place.project):
        from memfs.store import upstream_changes  # with git, which most starts need not ask

        notice = upstream_changes.notice(upstream_changes.review_changes(place, note=note))
    text, shown = brief_text.compose_brief(place, tools=tools)
    rules = brief_text.unwritten_rules(place, shown.values())
    if note:
        notice = "\n".join(filter(None, (notice, brief_text.offer_rules(place, rules))))
    return WholeBrief(brief_text.with_rules(text, rules), shown, notice)


def complete_notice(place: Place | None, folder: str, notice: str) -> str:
    """Return a notice with what is wrong with the store of `folder`, and what reviews saved."""
    if place is None or place.project is None:
        notice = _foreign(folder)
    elif place.unread or not store_paths.is_store(place.project.root):
        notice = "\n".join(filter(None, (notice, *_damage(place))))
    if place is not None and files.is_folder(f"{place.home.local}/reviews"):
        notice = "\n".join(filter(None, (notice, _reviewed(place))))
    return notice


def _reviewed(place: Place) -> str:
    """Tell the person what reviews saved that they were not told of."""
    from memfs.store import reviews  # most stores have none

    return "\n".join(f"memfs: {line} (memfs review)" for line in reviews.take_news(place.home))


def _damage(place: Place) -> list[str]:
    """Tell the person what of a project's store cannot be used."""
    found = [make_plain(each) for each in dict.fromkeys(place.unread or ())]
    if place.project and not store_paths.is_store(place.project.root):
        path = make_plain(f"{place.project.root}/{store_paths.CONFIG}")
        found.append(f"{path} is missing or damaged (memfs init writes it anew if it is gone)")
    return [f"memfs: {each}" for each in found]


def _foreign(folder: str) -> str:
    """Tell the person of a project store that they do not trust (yet)."""
    from memfs.core.invisible_characters import reveal_hidden

    store = store_paths.find(folder or ".")
    if store is None:
        return ""
    name = reveal_hidden(flatten_text(store.root))
    if store_paths.is_trusted(store):
        return (
            f"memfs: git does not say what came with it into {name}; nothing of it is "
            f"used until it does: git -C {name} ls-files -s"
        )
    return (
        f"memfs: {name} came with this project; nothing of it is used until you "
        "have looked at it: memfs trust"
    )
