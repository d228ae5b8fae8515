"""What must not come back, on a few beliefs of our own."""

import json
from pathlib import Path

from click.testing import CliRunner

from benchmarks import precision


def belief(ident: str, text: str, scope: str = "domain:shop", **more: object) -> dict[str, object]:
    return {
        "id": ident,
        "text": text,
        "scope": [scope],
        "user_id": "me",
        "type": "decision",
        **more,
    }


BELIEFS = [
    belief("old", "Decided on MySQL for the database of the shop.", superseded_by="new"),
    belief("new", "Decided on Postgres for the database of the shop."),
    belief("novel", "The database of the novel is a character.", "domain:novel"),
    belief("open", "Evaluating two hosts for the database of the shop.", resolved_at="2026-01-01"),
    belief("theirs", "Decided on Oracle for the database of the shop.") | {"user_id": "other"},
    belief("k8s", "Deploys the shop to a cluster.", aliases=["k8s"]),
]
QUERIES = [
    {
        "query": "which database does the shop use?",
        "scope": ["domain:shop"],
        "relevant": ["new"],
        "must_exclude": ["old", "novel", "open", "theirs", "nobody"],
    },
    {"query": "what about k8s", "scope": ["domain:shop"], "relevant": ["k8s"], "must_exclude": []},
]


def test_it_is_measured(tmp_path: Path) -> None:
    for name, rows in (("corpus", BELIEFS), ("queries", QUERIES)):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = [str(tmp_path / "corpus"), str(tmp_path / "queries")]
    plain, facts = json.loads(CliRunner().invoke(precision.command, [*words, "--json"]).stdout)
    assert (plain["name"], plain["excluded"], plain["came"]) == ("plain search", 4, 4)
    assert (facts["name"], facts["excluded"], facts["came"], facts["recall"]) == ("facts", 4, 0, 1)
    assert facts["found"] < plain["found"]
    table = CliRunner().invoke(precision.command, words).stdout
    assert table.splitlines()[0].split() == [
        "MEMORY",
        "RECALL@10",
        "MUST",
        "NOT",
        "COME",
        "CAME",
        "FACTS",
        "A",
        "QUERY",
    ]
