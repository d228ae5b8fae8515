"""Exchanges: a user's question, and all turns up to the next question. Hot path."""

from memfs import files
from memfs.core.snippet import split_words
from memfs.search.lexical import Occur, Query, get_field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tantivy import Document

    from memfs.search.lexical import TextIndex

_SPAN, _FAR = 100, 400  # document numbers before and after a turn
_MOST_TURNS = 24  # around it
_CLOSING = 4  # turns at the end of the session
_LONG_WORD = 4  # characters of a word that counts in a recap
_CHANCE = 0.35  # share of its words that any answer may have from the user
_KEPT = 3  # assistant turns of an exchange: the first one, and the last ones
_LONGEST = 4000  # characters; a longer turn is cut in the middle


class SessionTurn:
    """A turn of a session: `number` is its document number, `id` its message's id.

    `who` is the name of the speaker, or the role.
    """

    __slots__ = ("at", "host", "id", "number", "role", "session", "source", "text", "who")

    def __init__(self, document: "Document", number: int) -> None:
        self.number = number
        self.id = get_field(document, "id")
        self.role = get_field(document, "role")
        self.who = get_field(document, "speaker") or self.role
        self.at = get_field(document, "time")
        self.host = get_field(document, "host")
        self.session = get_field(document, "session")
        self.source = get_field(document, "source")
        text = get_field(document, "text")
        half = _LONGEST // 2
        self.text = text if len(text) <= _LONGEST else f"{text[:half]}\n{text[-half:]}"


class Exchange:
    """Adjacent turns of a session; the user's come first, if the user began.

    `before` is the assistant's last turn before them, which a short answer refers to. `restated` is
    not 0 where the assistant's last turn of the session sums it up (see `_rate_recap`).
    """

    __slots__ = ("before", "restated", "turns")

    def __init__(self, turns: list[SessionTurn], before: SessionTurn | None) -> None:
        self.turns, self.before, self.restated = turns, before, 0.0

    @property
    def id(self) -> str:
        return self.turns[0].id

    @property
    def question(self) -> str:
        return "\n".join(turn.text for turn in self.turns if turn.role == "user")


def read_around(text: "TextIndex", session: str, host: str, number: int) -> list[Exchange]:
    """Return the exchanges of a session around a turn, and its last; none if it was removed."""
    only = [
        (Occur.Must, text.term_query("session", session)),
        *([(Occur.Must, text.term_query("host", host))] if host else []),
        (Occur.MustNot, text.term_query("role", "tool")),
        (Occur.Must, text.number_query(max(0, number - _SPAN), number + _FAR)),
    ]
    addresses, _ = text.search_in_order(Query.boolean_query(only), "num", _FAR, 0)
    numbers = text.numbers(addresses)
    place = next((at for at, each in enumerate(numbers) if each >= number), len(numbers))
    first, last = max(0, place - _MOST_TURNS // 2), place + _MOST_TURNS // 2
    window, closing = [
        [SessionTurn(text.load_document(addresses[at]), numbers[at]) for at in places]
        for places in (
            range(first, min(last, len(numbers))),
            range(max(last, len(numbers) - _CLOSING), len(numbers)),
        )
    ]
    if window and window[0].source and not files.is_file(window[0].source):
        return []
    found = [*_build_exchanges(window), *_build_exchanges(closing)]
    _rate_recap(found)
    return found


def _build_exchanges(turns: list[SessionTurn]) -> list[Exchange]:
    groups: list[list[SessionTurn]] = []
    for turn in turns:
        if not groups or (turn.role == "user" and groups[-1][-1].role != "user"):
            groups.append([])
        groups[-1].append(turn)
    found: list[Exchange] = []
    for group in groups:
        previous = found[-1].turns[-1] if found else None
        is_answer = previous is not None and previous.role != "user"
        found.append(Exchange(_drop_middle_turns(group), previous if is_answer else None))
    return found


def _rate_recap(exchanges: list[Exchange]) -> None:
    """Set how far the assistant's last turn says again what the user said in the session."""
    said = set(split_words("\n".join(each.question for each in exchanges)))
    for each in reversed(exchanges):
        answers = [turn for turn in each.turns if turn.role != "user"]
        if answers:
            words = [word for word in split_words(answers[-1].text) if len(word) >= _LONG_WORD]
            share = sum(word in said for word in words) / max(1, len(words))
            each.restated = max(0.0, share - _CHANCE)
            return


def _drop_middle_turns(turns: list[SessionTurn]) -> list[SessionTurn]:
    answers = [turn for turn in turns if turn.role != "user"]
    kept = {id(turn) for turn in [*answers[:1], *answers[1:][1 - _KEPT :]]}
    return [turn for turn in turns if turn.role == "user" or id(turn) in kept]
