"""Bare SQL: what a user of PostgreSQL would write for the same messages, without memfs.

One table with a generated `tsvector` and a GIN index, in which the project is a word of its own; it
is searched with `ts_rank`, and, where there is pgvector, by the nearest vectors of the project too,
both fused by their ranks.
"""

import re
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import psycopg

from memfs.search import text_vectors

_TOGETHER = 200  # rows of an upload
_TABLE = """
CREATE SCHEMA bare;
CREATE TABLE bare.message (
    project int NOT NULL, id uuid NOT NULL, session bigint NOT NULL, at timestamptz NOT NULL,
    role text NOT NULL, text text NOT NULL,
    tsv tsvector NOT NULL GENERATED ALWAYS AS
        (to_tsvector('english', text) || array_to_tsvector(ARRAY['project' || project])) STORED,
    PRIMARY KEY (project, id)
);
CREATE INDEX message_tsv ON bare.message USING gin (tsv);
"""
_INSERT = (
    "INSERT INTO bare.message (project, id, session, at, role, text) SELECT * FROM"
    " unnest(%s::int[], %s::uuid[], %s::bigint[], %s::timestamptz[], %s::text[], %s::text[])"
    " ON CONFLICT DO NOTHING"
)
_COPY = (
    "INSERT INTO bare.message (project, id, session, at, role, text)"
    " SELECT project, id, session, at, role, text FROM memfs.message ORDER BY project, at"
    " ON CONFLICT DO NOTHING"
)
_WORDS = (
    "SELECT project, id, row_number() OVER (ORDER BY ts_rank(tsv, q) DESC) AS n"
    " FROM bare.message, to_tsquery('english', %(words)s) q"
    " WHERE tsv @@ (%(tag)s::tsquery && q) ORDER BY n LIMIT 100"
)
_VECTORS = (
    "SELECT project, id, row_number() OVER (ORDER BY value <#> %(vector)s::{half}) AS n"
    " FROM memfs.vector WHERE project = %(project)s ORDER BY n LIMIT 100"
)
_FUSED = (
    "WITH found AS (({parts})), best AS (SELECT id, sum(1.0 / (60 + n)) AS score FROM found"
    " GROUP BY id ORDER BY score DESC LIMIT 10)"
    " SELECT m.id, m.text, m.at, m.role FROM best JOIN bare.message m"
    " ON m.project = %(project)s AND m.id = best.id ORDER BY best.score DESC"
)


class BareTable:
    """The same messages in one table of the same database, and two searches of it."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._connection = psycopg.connect(address, autocommit=True, prepare_threshold=None)
        found = self._connection.execute(
            "SELECT quote_ident(n.nspname) || '.halfvec' FROM pg_extension e"
            " JOIN pg_namespace n ON n.oid = e.extnamespace WHERE extname = 'vector'"
        ).fetchone()
        self.has_vectors = found is not None
        both = f"{_WORDS}) UNION ALL ({_VECTORS.format(half=found[0])}" if found else _WORDS
        if found:
            schema = found[0].rpartition(".")[0]
            self._connection.execute(f"SET search_path = public, {schema}".encode())
        self._words = _FUSED.format(parts=_WORDS).encode()
        self._both = _FUSED.format(parts=both).encode()

    def fill(self, uploaders: int, most: int) -> float:
        """Upload `most` messages in batches, then copy the others; return rows a second of these.

        The index is there from the beginning, as it is for memfs.
        """
        self._connection.execute(_TABLE.encode())
        rows = self._connection.execute(
            "SELECT project, id, session, at, role, text FROM memfs.message"
            " ORDER BY project DESC LIMIT %s",
            (most,),
        ).fetchall()
        batches = [rows[at : at + _TOGETHER] for at in range(0, len(rows), _TOGETHER)]
        began = time.perf_counter()
        with ThreadPoolExecutor(uploaders) as pool:
            list(pool.map(self._upload, [batches[at::uploaders] for at in range(uploaders)]))
        seconds = time.perf_counter() - began
        self._connection.execute(_COPY.encode())
        self._connection.execute("VACUUM ANALYZE bare.message")
        return len(rows) / seconds

    def search_words(self, project: int, query: str) -> int:
        """Search a project by words; return how many hits there are."""
        values = {"project": project, "words": _parse(query), "tag": f"project{project}"}
        return len(self._connection.execute(self._words, values).fetchall())

    def search_both(self, project: int, query: str) -> int:
        """Search a project by words and vectors; return how many hits there are."""
        vector = ",".join(f"{each:.4g}" for each in text_vectors.embed_texts([query])[0].tolist())
        values = {
            "project": project,
            "words": _parse(query),
            "tag": f"project{project}",
            "vector": f"[{vector}]",
        }
        return len(self._connection.execute(self._both, values).fetchall())

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _upload(self, batches: Sequence[list[tuple[object, ...]]]) -> None:
        with psycopg.connect(self._address, autocommit=True, prepare_threshold=None) as connection:
            for batch in batches:
                connection.execute(_INSERT, [list(column) for column in zip(*batch, strict=True)])


def _parse(query: str) -> str:
    """Return the words of a query as `to_tsquery` reads them: any of them."""
    return " | ".join(re.findall(r"\w+", query)) or "nothing"
