"""What a training run reads: texts, pairs, the tokenizer."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tokenizers import Tokenizer

from training.bags import Bags, Floats, Ints

# One word is no question and three are no passage: such pairs teach noise.
SHORTEST_QUERY = 2
SHORTEST_PASSAGE = 4
# Large sources are drawn less often than their size says, so that small ones count.
SOURCE_POWER = 0.7


class TrainingError(Exception):
    """Input that cannot be trained on; the message names the file and the place."""


class Pair(NamedTuple):
    """A query and the passage that answers it; `source` groups pairs of a kind."""

    query: str
    passage: str
    source: str


class Pairs(NamedTuple):
    """Tokenised pairs, row k of `queries` with row k of `passages`.

    A batch comes from one source, so that its negatives are hard ones: `groups` are
    the rows of each source, `odds` how often each is drawn (sums to 1).
    """

    queries: Bags
    passages: Bags
    groups: tuple[Ints, ...]
    odds: Floats

    def draw(self, rng: np.random.Generator, size: int) -> Ints:
        """Row numbers of a batch of at most `size` different pairs of one source."""
        group = self.groups[rng.choice(len(self.groups), p=self.odds)]
        return rng.choice(group, min(size, len(group)), replace=False)


def read_texts(path: Path) -> list[str]:
    """Texts of a JSONL file of `{"text": …}`.

    Raises TrainingError with the line number for anything else.
    """
    texts = [_string(path, line, row, "text") for line, row in _objects(path)]
    if not texts:
        raise TrainingError(f"{path}: no texts")
    return texts


def read_pairs(path: Path) -> list[Pair]:
    """Pairs of a JSONL file of `{"query": …, "passage": …, "source"?: …}`.

    Raises TrainingError with the line number for anything else.
    """
    pairs = []
    for line, row in _objects(path):
        query = _string(path, line, row, "query")
        passage = _string(path, line, row, "passage")
        source = _string(path, line, row, "source") if "source" in row else ""
        pairs.append(Pair(query, passage, source))
    if not pairs:
        raise TrainingError(f"{path}: no pairs")
    return pairs


def load_tokenizer(path: Path) -> Tokenizer:
    """Tokenizer of a `tokenizer.json`, without padding or truncation.

    Raises TrainingError if it cannot be read or its ids have gaps: a token's id is
    its row in the table.
    """
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises bare Exception
        raise TrainingError(f"{path}: not a tokenizer: {error}") from error
    ids = sorted(tokenizer.get_vocab().values())
    if ids != list(range(len(ids))):
        raise TrainingError(f"{path}: the token ids do not run from 0 without gaps")
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def tokenise(tokenizer: Tokenizer, texts: Sequence[str], limit: int) -> Bags:
    """Token ids of `texts`, each cut to `limit` tokens, unknown tokens left out.

    model2vec leaves the unknown token out of a text's mean, so training does too.
    """
    unknown = getattr(tokenizer.model, "unk_token", None)
    skip = None if unknown is None else tokenizer.token_to_id(unknown)
    bags = []
    # In runs, since encodings carry far more than their ids.
    for start in range(0, len(texts), 10_000):
        run = list(texts[start : start + 10_000])
        encodings = tokenizer.encode_batch_fast(run, add_special_tokens=False)
        bags += [[i for i in e.ids[:limit] if i != skip] for e in encodings]
    return Bags.pack(bags)


def tokenise_pairs(tokenizer: Tokenizer, pairs: Sequence[Pair], limit: int) -> Pairs:
    """Tokenise `pairs` and leave out those too short to teach anything.

    Raises TrainingError if none is left.
    """
    queries = tokenise(tokenizer, [pair.query for pair in pairs], limit)
    passages = tokenise(tokenizer, [pair.passage for pair in pairs], limit)
    fit = queries.lengths >= SHORTEST_QUERY
    fit &= passages.lengths >= SHORTEST_PASSAGE
    if not fit.any():
        raise TrainingError(
            f"none of the {len(pairs)} pairs has {SHORTEST_QUERY} known tokens in its "
            f"query and {SHORTEST_PASSAGE} in its passage"
        )
    rows: dict[str, list[int]] = {}
    for row in np.flatnonzero(fit).tolist():
        rows.setdefault(pairs[row].source, []).append(row)
    groups = tuple(np.array(group, dtype=np.int64) for group in rows.values())
    odds = np.array([len(group) ** SOURCE_POWER for group in groups])
    return Pairs(queries, passages, groups, odds / odds.sum())


def _objects(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise TrainingError(f"{path}: {error.strerror}") from error
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line.decode("utf-8"))
        except ValueError as error:
            raise TrainingError(f"{path}:{number}: not JSON: {error}") from error
        if not isinstance(row, dict):
            raise TrainingError(f"{path}:{number}: not an object")
        yield number, row


def _string(path: Path, line: int, row: dict[str, object], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        raise TrainingError(f'{path}:{line}: "{key}" must be a string with text in it')
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        # JSON can escape half a surrogate pair; the tokenizer cannot take it.
        raise TrainingError(f'{path}:{line}: "{key}" is not valid Unicode') from error
    return value
