"""Standing rules: what users stated to hold in past sessions. Derived from recall; hot path.

A line each in `local/standing.tsv`: date, host, session, message, `sure` or `likely`, sentence.
"""

from zlib import crc32

from memfs import files
from memfs.core.snippet import split_words
from memfs.files import atomic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memfs.store.store_paths import Store

_NAME = "standing.tsv"
_REFUSED, _TOLD = "standing-refused", "standing-told"
_MOST = 1 << 16  # bytes
_MOST_IDS = 4000
_FIELDS = 6
_SURE, _LIKELY = "sure", "likely"
_SHARE = 0.8  # of a rule's words: a block that has them says it already


class StandingRule:
    """What a user stated, in their own words: `at` is UTC in ISO 8601.

    Assistants are told only those that are `certain`.
    """

    __slots__ = ("at", "certain", "host", "message", "session", "text")

    def __init__(
        self, at: str, host: str, session: str, message: str, text: str, *, certain: bool = True
    ) -> None:
        self.at, self.host, self.session = at, host, session
        self.message, self.text, self.certain = message, text, certain

    @property
    def id(self) -> str:
        """The id: a checksum of the text."""
        return f"{crc32(self.text.encode('utf-8', 'replace')):08x}"

    @property
    def words(self) -> set[str]:
        """Its words, each once."""
        return set(split_words(self.text))

    def render(self) -> str:
        """Return the line that is stored: fields joined by tabs, whitespace collapsed."""
        level = _SURE if self.certain else _LIKELY
        fields = (self.at, self.host, self.session, self.message, level, self.text)
        return "\t".join(" ".join(each.split()) for each in fields)


def read(store: "Store") -> list[StandingRule]:
    """Return the rules that are known, the newest first, but for those that were refused."""
    text = files.read(f"{store.local}/{_NAME}", cap=_MOST) or ""
    parts = [line.split("\t") for line in text.split("\n")]
    for each in parts:
        if len(each) == _FIELDS - 1:
            each.insert(-1, _LIKELY)
    found = [
        StandingRule(at, host, session, message, rule, certain=level == _SURE)
        for at, host, session, message, level, rule in (
            each for each in parts if len(each) == _FIELDS
        )
    ]
    refused = _read_ids(store, _REFUSED) if found else []
    return [rule for rule in found if rule.id not in refused]


def write(store: "Store", rules: "Iterable[StandingRule]") -> None:
    """Write the known rules, if they changed."""
    path = f"{store.local}/{_NAME}"
    text = "".join(f"{each.render()}\n" for each in rules)
    if text != (files.read(path, cap=_MOST) or ""):
        atomic.write(path, text, private=True, durable=False)


def read_refused(store: "Store") -> list[str]:
    """Return the ids of the rules, and of other things to decide, that were dismissed."""
    return _read_ids(store, _REFUSED)


def refuse(store: "Store", ident: str) -> None:
    """Note that a rule, or another thing to decide, is dismissed."""
    _add_ids(store, _REFUSED, [ident])


def take_untold(store: "Store", rules: "Iterable[StandingRule]") -> list[StandingRule]:
    """Return the rules that the user was not told of, and mark them as told."""
    announced = _read_ids(store, _TOLD)
    new = [rule for rule in rules if rule.id not in announced]
    if new:
        _add_ids(store, _TOLD, (rule.id for rule in new))
    return new


def _read_ids(store: "Store", name: str) -> list[str]:
    return (files.read(f"{store.local}/{name}", cap=_MOST) or "").split()


def _add_ids(store: "Store", name: str, new: "Iterable[str]") -> None:
    ids = [*dict.fromkeys((*_read_ids(store, name), *new))]
    text = "".join(f"{each}\n" for each in ids[-_MOST_IDS:])
    atomic.write(f"{store.local}/{name}", text, private=True, durable=False)


def unwritten(rules: "Iterable[StandingRule]", texts: "Iterable[str]") -> list[StandingRule]:
    """Return the rules that no block says: `texts` are those of blocks."""
    word_sets = [set(split_words(text)) for text in texts]
    return [rule for rule in rules if not any(_is_in(rule.words, each) for each in word_sets)]


def _is_in(words: set[str], block_words: set[str]) -> bool:
    return len(words & block_words) >= _SHARE * len(words)
