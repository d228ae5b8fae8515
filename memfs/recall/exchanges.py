"""Exchanges: what a user asked, and all that was said up to the next question. Hot path.

They are read from the index around a turn that was found: the turns of its session, without what
tools were given and put out.
"""

from memfs import files
from memfs.search import prompt_bm25
from memfs.search.lexical import Occur, Query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tantivy import DocAddress, Document

    from memfs.search.lexical import TextIndex

BEFORE, AFTER = 1, 3  # exchanges around one that was found, that may hold its answer
_SPAN = 400  # documents of the index, before and behind a turn
_MOST_TURNS = 200
_KEPT = 3  # turns of an assistant in an exchange: the first one, and the last ones
_LONGEST = 4000  # characters of a turn: of a longer one its two ends


class SessionTurn:
    """A turn of a session: `number` is its document's in the index, `id` that of its message."""

    __slots__ = ("at", "host", "id", "number", "role", "session", "source", "text")

    def __init__(self, document: "Document", number: int) -> None:
        self.number = number
        self.id = prompt_bm25.get_field(document, "id")
        self.role = prompt_bm25.get_field(document, "role")
        self.at = prompt_bm25.get_field(document, "time")
        self.host = prompt_bm25.get_field(document, "host")
        self.session = prompt_bm25.get_field(document, "session")
        self.source = prompt_bm25.get_field(document, "source")
        text = prompt_bm25.get_field(document, "text")
        half = _LONGEST // 2
        self.text = text if len(text) <= _LONGEST else f"{text[:half]}\n{text[-half:]}"


class Exchange:
    """Turns that belong together; the first ones are the user's, if the user began.

    `before` is what an assistant said last before them: what a short answer refers to.
    """

    __slots__ = ("before", "turns")

    def __init__(self, turns: list[SessionTurn], before: SessionTurn | None) -> None:
        self.turns, self.before = turns, before

    @property
    def id(self) -> str:
        """What tells it from all others: the id of its first message."""
        return self.turns[0].id

    @property
    def question(self) -> str:
        """What the user said in it, "" where an assistant began."""
        return "\n".join(turn.text for turn in self.turns if turn.role == "user")

    def text(self) -> str:
        """Return all that was said in it."""
        return "\n".join(turn.text for turn in self.turns)


def read_around(text: "TextIndex", session: str, host: str, number: int) -> list[Exchange]:
    """Return the exchanges of a session around the turn with a document's number, in order.

    There are none where its recall file was removed meanwhile, and the index not told yet.
    """
    only = [
        (Occur.Must, text.term("session", session)),
        *([(Occur.Must, text.term("host", host))] if host else []),
        (Occur.MustNot, text.term("role", "tool")),
        (Occur.Must, text.numbered(max(0, number - _SPAN), number + _SPAN)),
    ]
    addresses, _ = text.ordered(Query.boolean_query(only), "num", 2 * _SPAN, 0)
    numbers = text.numbers(addresses)
    place = next((at for at, each in enumerate(numbers) if each >= number), len(numbers))
    first, last = max(0, place - _MOST_TURNS // 2), place + _MOST_TURNS // 2
    window = list(zip(numbers[first:last], addresses[first:last], strict=True))
    place -= first
    before = _read(text, window[:place][::-1], BEFORE + 1)[::-1]
    behind = _read(text, window[place:], AFTER + 2)
    turns = before + behind
    if turns and turns[0].source and not files.is_file(turns[0].source):
        return []
    found: list[Exchange] = []
    for said_together in _split(turns):
        said = found[-1].turns[-1] if found else None
        spoke = said is not None and said.role != "user"
        found.append(Exchange(_shortened(said_together), said if spoke else None))
    return found


def _read(
    text: "TextIndex", window: "list[tuple[int, DocAddress]]", questions: int
) -> list[SessionTurn]:
    """Read turns until so many questions were among them."""
    found: list[SessionTurn] = []
    for number, address in window:
        turn = SessionTurn(text.opened(address), number)
        found.append(turn)
        asks = turn.role == "user" and (len(found) < 2 or found[-2].role != "user")
        questions -= asks
        if not questions:
            break
    return found


def _split(turns: list[SessionTurn]) -> list[list[SessionTurn]]:
    found: list[list[SessionTurn]] = []
    for turn in turns:
        if not found or (turn.role == "user" and found[-1][-1].role != "user"):
            found.append([])
        found[-1].append(turn)
    return found


def _shortened(turns: list[SessionTurn]) -> list[SessionTurn]:
    """Leave out what an assistant said on its way, between its first turn and its last ones."""
    said = [turn for turn in turns if turn.role != "user"]
    kept = {id(turn) for turn in [*said[:1], *said[1:][1 - _KEPT :]]}
    return [turn for turn in turns if turn.role == "user" or id(turn) in kept]
