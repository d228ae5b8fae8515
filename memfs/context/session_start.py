"""The start of a session: the whole brief, and the notice for the person. Hot path."""

from memfs import files
from memfs.context import brief_contents, person_notices
from memfs.core import brief_layout, rule_scope
from memfs.core.escaping import flatten_text, make_plain
from memfs.store import host_sessions, store_paths, trust
from memfs.store.blocks import Place, find_off_switch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.store.standing_rules import StandingRule


def compose_whole(
    place: Place, *, host: str, tools: bool, note: bool, last: str = ""
) -> tuple[str, dict[str, str], str]:
    """Return the whole brief of a place, the texts it was made of, and a notice for the person.

    `tools`: the assistant has ours. `note`: a session starts, and the notice names the changes of
    others and the rules that are in no block. `last` is what it is told of the last session.
    """
    notice = ""
    if note:
        brief_contents.create_scratch_block(place)
        if place.session:
            host_sessions.note_session(place.home, place.session)
    if place.project and trust.is_behind(place.project):
        from memfs.store import upstream_changes  # with git, which most starts need not ask

        notice = upstream_changes.notice(upstream_changes.review_changes(place, note=note))
    found = compose_pieces(place, host=host, tools=tools, last=last)
    if note:
        line = person_notices.describe_start(place, found.texts, len(found.stated))
        rules = brief_contents.offer_rules(place, found.stated)
        told = (line, notice, rules, _offer_enforcing(place, found.texts))
        notice = "\n".join(filter(None, told))
    return found.brief + found.handed + found.rules, found.texts, notice


class BriefPieces:
    """The pieces of a whole brief: the blocks, what is told of the last session, and rules.

    `texts` are those of the blocks, `stated` the rules that no block has, those that did not fit
    among them.
    """

    __slots__ = ("brief", "handed", "rules", "stated", "texts")

    def __init__(
        self, brief: str, texts: dict[str, str], handed: str, stated: "list[StandingRule]"
    ) -> None:
        self.brief, self.texts, self.handed, self.stated = brief, texts, handed, stated
        room = brief_layout.BUDGET - brief_layout.units(brief + handed)
        self.rules = brief_layout.rules(stated, min(brief_contents.RULES, room))


def compose_pieces(place: Place, *, host: str, tools: bool, last: str = "") -> BriefPieces:
    """Compose the whole brief of a place in its pieces (see `compose_whole`). Writes nothing."""
    handed = f"{brief_layout.HANDED}\n{last}" if last else ""
    room = brief_layout.BUDGET - brief_layout.units(handed)
    text, shown = brief_contents.compose_brief(place, tools=tools, budget=room, host=host)
    stated = brief_contents.unwritten_rules(place, shown.values())
    return BriefPieces(text, shown, handed, stated)


def _offer_enforcing(place: Place, shown: dict[str, str]) -> str:
    """Return the notice on blocks that are to be enforced and are not accepted, "" for none."""
    if not any(map(rule_scope.has_scope, shown.values())):
        return ""
    from memfs.store import enforced_rules  # most stores have none

    labels = [flatten_text(key.partition(":")[2]) for key, _ in enforced_rules.list_pending(place)]
    text = (
        f"memfs: blocks not enforced until you accept them (run memfs trust): {', '.join(labels)}"
    )
    return text if labels else ""


def complete_notice(place: Place | None, folder: str, notice: str) -> str:
    """Return a notice with the problems of the store of `folder`, and the results of reviews."""
    if place is None or place.project is None:
        notice = _describe_untrusted(folder)
    elif place.unread or not store_paths.is_store(place.project.root):
        found = [make_plain(each) for each in dict.fromkeys(place.unread or ())]
        if not store_paths.is_store(place.project.root):
            path = make_plain(f"{place.project.root}/{store_paths.CONFIG}")
            found.append(f"{path} is missing or damaged (if the file is missing, run memfs init)")
        notice = "\n".join(filter(None, (notice, *(f"memfs: {each}" for each in found))))
    if place is not None and files.is_folder(f"{place.home.local}/reviews"):
        from memfs.store import proposals  # most stores have none

        news = (f"memfs: {line} (see memfs review)" for line in proposals.take_news(place.home))
        notice = "\n".join(filter(None, (notice, *news)))
    return notice


def _describe_untrusted(folder: str) -> str:
    """Return the notice on a project store that is not trusted (yet); "" if there is none."""
    from memfs.core.injection_signs import reveal_hidden

    store = store_paths.find(folder or ".")
    if store is None or find_off_switch(Place(store, store_paths.user_store())):
        return ""
    name = reveal_hidden(flatten_text(store.root))
    if store.trusted:
        return (
            f"memfs: git cannot list the files of {name}, so this memory is not used; "
            f"to see why, run git -C {name} ls-files -s"
        )
    return f"memfs: {name} came with this project and is not used until you run memfs trust"
