"""The full-text index (tantivy), without numpy. A user's text is no query language. Hot path."""

import errno
import json
import math
import os

import tantivy
from tantivy import FieldType, Filter, Occur, Query, TextAnalyzerBuilder, Tokenizer

from memfs import files
from memfs.core.errors import DamagedError, find_refusal, is_damage
from memfs.files import signatures
from memfs.search import TEXT, stopwords

__all__ = ["MOST_WORDS", "Occur", "Query", "Term", "TextIndex", "WantedStems", "get_field"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

CHECKED = "v5/checked.json"
EXACT = tuple("kind role host session project branch label source tag speaker".split())
MOST_TERMS = 32
MOST_WORDS = 6  # in a reason
_HEAP = 64 << 20  # bytes; tantivy indexes at full speed from 30 MB on
_SIGNED = ("at",)
_FAR = 1 << 62  # beyond every time
_LONGEST = 60  # longer tokens (hashes, base64) are not words
_MANY_STARTS = 40  # beyond it each word is looked at once: a search for each start takes longer
_TYPO = 5  # letters of a word that can be corrected
# Splits a text into words: letters, digits and all that is not ASCII are kept, in lower case.
_RUNS = bytes(
    byte if byte > 127 else ord(chr(byte).lower()) if chr(byte).isalnum() else 32
    for byte in range(256)
)


class Term:
    """A word of a query: as written, as indexed, its weight, and its document frequency."""

    __slots__ = ("frequency", "idf", "stem", "word")

    def __init__(self, word: str, stem: str, frequency: int, documents: int) -> None:
        self.word = word
        self.stem = stem
        self.frequency = frequency
        self.idf = math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))


class WantedStems:
    """The stems of terms, and how the words of ASCII begin that may have them."""

    __slots__ = ("starts", "stems")

    def __init__(self, terms: "Iterable[Term]") -> None:
        self.stems = {term.stem for term in terms}
        starts = {stem[:2] if len(stem) > 1 else stem for stem in self.stems}  # "a" is "aed"
        starts |= {f"{stem[0]}y" for stem in self.stems if stem[1:] == "ie"}  # dying, lying
        self.starts = {f" {start}".encode() for start in starts}


class TextIndex:
    """An index folder. Readers see the last commit; one process writes at a time."""

    def __init__(self, index: tantivy.Index) -> None:
        index.register_tokenizer("memfs", _build_stemmer().build())
        index.register_tokenizer("memfs_exact", _build_word_analyzer().build())
        index.register_tokenizer("memfs_parts", TextAnalyzerBuilder(Tokenizer.whitespace()).build())
        self._index = index
        self._words = _build_content_analyzer().build()
        self._stems = _build_stemmer(_build_content_analyzer()).build()
        self._all_stems = _build_stemmer().build()
        self.schema = index.schema
        index.config_reader("manual")  # else a thread opens every new commit, and may panic
        self.searcher = index.searcher()
        self._writer: tantivy.IndexWriter | None = None
        self._links: object = None  # the folder that it is open in, while it is
        self.stands_for: tuple[int, dict[str, int]] = 0, {}  # see `team.server.search`

    @property
    def documents(self) -> int:
        return max(self.stands_for[0], self.searcher.num_docs)

    @classmethod
    def open(cls, folder: str) -> "TextIndex | None":
        """Open an index; None if `folder` has none, or one of another version."""
        path = f"{folder}/{TEXT}"
        looks = signatures.sign_files(path) or {}
        if "meta.json" not in looks:
            return None
        try:
            if fresh := list_files_to_check(folder, looks):
                from memfs.search import segments

                if not segments.are_whole(path, fresh):
                    return None
            return cls(tantivy.Index.open(path))
        except BaseException as error:
            refusal = find_refusal(error, path)
            if refusal and refusal.errno == errno.EROFS:
                return cls._open_links(path)
            missing = isinstance(error, OSError) or refusal
            if missing or is_damage(error):
                return None
            raise

    @classmethod
    def _open_links(cls, path: str) -> "TextIndex":
        """Open an index on a read-only disk: tantivy makes a lock beside its files, so by links."""
        import tempfile  # nearly no disk is read-only

        links = tempfile.TemporaryDirectory(prefix="memfs-")
        for name in files.names(path):
            if name.endswith(".lock"):
                continue
            os.symlink(f"{path}/{name}", f"{links.name}/{name}")
        found = cls(tantivy.Index.open(links.name))
        found._links = links
        return found

    @classmethod
    def create(cls, folder: str) -> "TextIndex":
        """Open an index, or create an empty one."""
        found = cls.open(folder)
        if found is not None:
            return found
        path = f"{folder}/{TEXT}"
        files.make_folder(path, private=True, durable=False)
        from memfs.search.doc_json import schema

        try:
            return cls(tantivy.Index(schema(EXACT), path=path))
        except BaseException as error:
            if refusal := find_refusal(error, path):
                raise refusal from error
            if not is_damage(error):
                raise
            raise DamagedError(
                f"the search index in {path} cannot be read",
                "run the command again, which rebuilds the index",
            ) from error

    def parse_terms(self, text: str, most: int = MOST_TERMS) -> list[Term]:
        """Return at most `most` content words of `text`, the rarest first, unknown ones last."""
        found = self._map_stems(text, self._words, self._stems)
        if not found:
            found = self._map_stems(text, _build_word_analyzer().build(), self._all_stems)
        documents, known = self.documents, self.stands_for[1]
        count = self.searcher.doc_freq
        terms = [
            Term(word, stem, max(count("text", stem), known.get(stem, 0)), documents)
            for stem, word in found.items()
        ]
        terms.sort(key=lambda term: term.frequency or 1 << 60)
        return terms[:most]

    def stems(self, text: str) -> set[str]:
        return set(self._all_stems.analyze(str(stopwords.replace_surrogates(text))))

    def match_stems(self, wanted: WantedStems, text: str) -> set[str]:
        """Return the wanted stems that a text has; only words that begin like one are stemmed."""
        clean = str(stopwords.replace_surrogates(text))
        words = b" %b " % clean.encode().translate(_RUNS)
        like: set[bytes] = set()
        if len(wanted.starts) > _MANY_STARTS:
            runs = map(b" ".__add__, {*words.split()})
            like = {run for run in runs if not wanted.starts.isdisjoint((run[:3], run[:2]))}
        else:
            for start in wanted.starts:
                at = words.find(start)
                while at >= 0:
                    end = words.find(b" ", at + 1)
                    like.add(words[at:end])
                    at = words.find(start, end)
        if not words.isascii():
            like.update(b" " + run for run in words.split() if not run.isascii())
        found = self._all_stems.analyze(b"".join(like).decode()) if like else ()
        return wanted.stems.intersection(found)

    def build_part_term(self, part: str) -> Term:
        count = self.searcher.doc_freq("parts", str(stopwords.replace_surrogates(part)))
        return Term(part, part, count, self.documents)

    def query(self, terms: list[Term], *more: Query, only: "Query | None" = None) -> "Query | None":
        queries = [*(self.term_query("text", each.stem) for each in terms if each.frequency), *more]
        if not queries:
            return None
        either = Query.boolean_query([(Occur.Should, each) for each in queries])
        return match_all(either, only and Query.const_score_query(only, 0.0))

    def part_query(self, word: str, boost: float) -> Query:
        """Return the query for a part of a name or CJK text; a text's length does not count."""
        query = Query.const_score_query(self.term_query("parts", word.lower()), 1.0)
        return Query.boost_query(query, boost * self.build_part_term(word.lower()).idf)

    def character_query(self, character: str) -> Query:
        return Query.regex_query(self.schema, "parts", f".?{character}.?")

    def fuzzy_query(self, term: Term) -> "Query | None":
        """Return the query for the corrections and completions of a word that no document has.

        A correction differs by one letter more, less, changed or swapped (two from 8 letters on), a
        completion begins with the word. None for a short word.
        """
        if not may_be_mistyped(term.word):
            return None
        distance = 1 if len(term.word) < 2 * _TYPO else 2
        near = Query.fuzzy_term_query(self.schema, "exact", term.word, distance)
        longer = Query.fuzzy_term_query(self.schema, "exact", term.word, 0, prefix=True)
        either = Query.disjunction_max_query([near, longer])
        return Query.boost_query(Query.const_score_query(either, 1.0), term.idf / 2)

    def phrase_query(self, text: str) -> "Query | None":
        """Return the query for adjacent words; None for fewer than two."""
        stems = self._all_stems.analyze(str(stopwords.replace_surrogates(text)))
        if len(stems) < 2:
            return None
        return Query.boost_query(Query.phrase_query(self.schema, "text", list(stems)), 2.0)

    def term_query(self, field: str, value: object) -> Query:
        return Query.term_query(self.schema, field, stopwords.replace_surrogates(value))

    def range_query(self, field: str, first: int | None, last: int | None) -> Query:
        """Return the query for a range of a numeric field, both ends included; None: open."""
        signed = field in _SIGNED
        least = -_FAR if signed else 0
        low = least if first is None else max(least, min(_FAR, first))
        high = _FAR if last is None else max(least, min(_FAR, last))
        kind = FieldType.Integer if signed else FieldType.Unsigned
        return Query.range_query(self.schema, field, kind, low, high)

    def number_query(self, first: int, end: int = (1 << 63) - 1) -> Query:
        """Return the query for the documents from number `first` to before `end`."""
        return Query.range_query(
            self.schema, "num", FieldType.Unsigned, first, end, include_upper=False
        )

    def search(self, query: Query, limit: int) -> list[tuple[float, tantivy.DocAddress]]:
        if limit < 1:
            return []
        return list(self.searcher.search(query, limit, count=False).hits)

    def search_in_order(
        self, query: Query, field: str, limit: int, offset: int
    ) -> tuple[list[tantivy.DocAddress], int]:
        """Return a page of addresses in ascending order of a numeric field, and their total."""
        found = self.searcher.search(
            query,
            max(1, limit),
            count=True,
            order_by_field=field,
            offset=offset,
            order=tantivy.Order.Asc,
        )
        total = int(getattr(found, "count", 0) or 0)  # missing in the stubs
        return [address for _, address in found.hits], total

    def list_prompts(self, most: int) -> "Iterable[tantivy.Document]":
        terms = self.term_query("kind", "message"), self.term_query("role", "user")
        found = self.searcher.search(
            match_all(*terms), most, count=False, order_by_field="at", order=tantivy.Order.Desc
        )
        return (self.load_document(address) for _, address in found.hits)

    def find_all(self, query: Query) -> list[tantivy.DocAddress]:
        return [address for _, address in self.search(query, max(1, self.searcher.num_docs))]

    def numbers(self, addresses: list[tantivy.DocAddress], field: str = "num") -> list[int]:
        values = self.searcher.fast_field_values(field, addresses)
        return [int(value or 0) for value in values]

    def find_addresses(self, numbers: "Iterable[int]") -> dict[int, tantivy.DocAddress]:
        """Return the addresses of existing documents by number (one query each is fastest)."""
        found = {}
        for number in numbers:
            for _, address in self.search(self.term_query("num", number), 1):
                found[number] = address
        return found

    def load_document(self, address: tantivy.DocAddress) -> tantivy.Document:
        return self.searcher.doc(address)

    def read_fields(self, address: tantivy.DocAddress) -> dict[str, list[object]]:
        found: dict[str, list[object]] = self.load_document(address).to_dict()
        return found

    def add(self, documents: "Iterable[dict[str, object]]") -> int:
        """Add documents (not visible before `commit`); return how many."""
        from memfs.search.doc_json import prepare_document

        return self.add_json(map(prepare_document, documents))

    def add_json(self, documents: "Iterable[str]") -> int:
        """Add prepared documents (see `doc_json`); return how many. Raises `ValueError`."""
        writer = self._open_writer()
        count = 0
        for document in documents:
            writer.add_json(document)
            count += 1
        return count

    def delete(self, field: str, value: str) -> None:
        self._open_writer().delete_documents_by_term(field, stopwords.replace_surrogates(value))

    def delete_matching(self, query: Query) -> None:
        self._open_writer().delete_documents_by_query(query)

    def commit(self) -> None:
        """Make all changes durable and visible; more may follow (see `finish`)."""
        if self._writer is None:
            return
        try:
            self._writer.commit()
        except BaseException:  # a failed writer silently drops all later documents: discard it
            self.rollback()
            raise
        self._index.reload()
        self.searcher = self._index.searcher()

    def finish(self) -> None:
        """Release the writer after the last commit, once merges are done."""
        if self._writer is not None:
            writer, self._writer = self._writer, None
            writer.wait_merging_threads()

    def rollback(self) -> None:
        if self._writer is not None:
            writer, self._writer = self._writer, None
            writer.rollback()

    def _open_writer(self) -> tantivy.IndexWriter:
        if self._writer is None:
            self._writer = self._index.writer(_HEAP, 1)
        return self._writer

    @staticmethod
    def _map_stems(
        text: str, as_written: tantivy.TextAnalyzer, as_indexed: tantivy.TextAnalyzer
    ) -> dict[str, str]:
        clean = str(stopwords.replace_surrogates(text))
        pairs = zip(as_indexed.analyze(clean), as_written.analyze(clean), strict=True)
        found: dict[str, str] = {}
        for stem, word in pairs:
            found.setdefault(stem, word)
        return found


def get_field(document: tantivy.Document, name: str) -> str:
    """Return a stored field as text, "" where it has none."""
    return str(document.get_first(name) or "")


def match_all(*queries: "Query | None") -> Query:
    """Return the query for documents that match all queries; None matches everything."""
    some = [each for each in queries if each is not None]
    return Query.boolean_query([(Occur.Must, each) for each in some]) if some[1:] else some[0]


def list_files_to_check(folder: str, looks: dict[str, str]) -> list[str]:
    """List the files of an index to verify (see `segments`). Raises `OSError`, `ValueError`."""
    meta = json.loads(files.read(f"{folder}/{TEXT}/meta.json") or "")
    used: dict[str, str] = {}
    for each in meta["segments"] if isinstance(meta, dict) else ():
        deleted = (each.get("deletes") or {}).get("opstamp", "")
        used[str(each["segment_id"]).replace("-", "")] = f".{deleted}.del"
    found = json.loads(files.read(f"{folder}/{CHECKED}") or "{}")
    known = found if isinstance(found, dict) else {}
    return [
        name
        for name, look in looks.items()
        if known.get(name) != look
        and (end := used.get(name.partition(".")[0]))
        and (not name.endswith(".del") or name.endswith(end))
    ]


def _build_word_analyzer() -> TextAnalyzerBuilder:
    return (
        TextAnalyzerBuilder(Tokenizer.simple())
        .filter(Filter.remove_long(_LONGEST))
        .filter(Filter.lowercase())
        .filter(Filter.ascii_fold())
    )


def _build_content_analyzer() -> TextAnalyzerBuilder:
    return _build_word_analyzer().filter(Filter.custom_stopword(list(stopwords.STOP)))


def may_be_mistyped(word: str) -> bool:
    """Tell whether a word that no document has is long enough to be corrected."""
    return len(word) >= _TYPO and word.isalpha()


def stems(text: str) -> set[str]:
    """Return the indexed forms of the words of a text, without an open index."""
    return set(_build_stemmer().build().analyze(text))


def _build_stemmer(words: TextAnalyzerBuilder | None = None) -> TextAnalyzerBuilder:
    return (words or _build_word_analyzer()).filter(Filter.stemmer("english"))


def list_content_stems(text: str) -> set[str]:
    """Return the indexed forms of the words of a text but stop words, without an open index."""
    clean = str(stopwords.replace_surrogates(text))
    return set(_build_stemmer(_build_content_analyzer()).build().analyze(clean))
