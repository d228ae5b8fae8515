"""Token counts without a tokenizer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core import tokens

# What o200k (tiktoken) counts.
COUNTED = {
    24: "Alice prefers TypeScript to Python since March; she works at Acme Corp in Berlin, and asks for short answers.",
    61: "def retry(call, times=3, wait=0.5):\n    for attempt in range(times):\n        try:\n            return call()\n        except OSError as error:\n            log.warning('attempt %d failed: %s', attempt, error)\n            time.sleep(wait * 2 ** attempt)\n",
    72: '{"type":"user","message":{"role":"user","content":"run the tests"},"uuid":"3f2b9c1e-5a77-4d0e-9c55-0c1f7c2d9b10","timestamp":"2026-03-14T09:26:53.589Z"}\n',
    31: "設定ファイルはリポジトリのルートに置いてください。テストは毎回新しい環境で実行します。",
    23: "Die Übersetzungen gehören in die Datenbank, nicht in die Quelltexte; Umlaute bleiben erhalten.",
    46: "ERROR 2026-05-03 12:00:01,442 worker-7 psycopg2.OperationalError: could not connect to server: Connection refused (0x0000274D/10061)\n",
    147: '{"name":"mcp__memfs__memory_read","description":"Read one thing whole: a memory block, a passage of the archive, or a past session.\\n\\nUse it for a block that is listed by name only or was cut, and for a hit of memory_search. Without an id it lists the blocks.\\n\\nExample: a hit is of session 3f2a91 -> id: \\"3f2a91\\"","input_schema":{"type":"object","properties":{"id":{"type":"string","description":"A label, or the id of a passage or session."},"page":{"type":"integer","minimum":1,"description":"Which page of a session, from 1."}}}}',
}


@pytest.mark.parametrize(("count", "text"), COUNTED.items())
def test_an_estimate_is_near_what_the_tokenizer_counts(count: int, text: str) -> None:
    assert 0.75 * count <= tokens.estimate(text) <= 1.25 * count


@pytest.mark.parametrize("text", ["", " "])
def test_nothing_costs_nothing(text: str) -> None:
    assert tokens.estimate(text) == 0


def test_what_is_no_language_is_not_taken_for_one_long_word() -> None:
    assert tokens.estimate("a" * 1000) > 200


@given(st.text(), st.text())
def test_more_text_is_hardly_fewer_tokens(one: str, other: str) -> None:
    both = tokens.estimate(one + other)
    assert both <= 2 * len((one + other).encode("utf-8", "surrogatepass"))
    assert tokens.estimate(f"{one}\n{other}") >= tokens.estimate(one) - 1
