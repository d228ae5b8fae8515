"""What is told as a standing rule is one, and most of the stated ones are found."""

import json
from pathlib import Path

from click.testing import CliRunner

from benchmarks import rules

ROOT = Path(__file__).parents[2]


def test_rules_of_the_projects_are_told_and_found() -> None:
    paths = [*ROOT.glob("training/projects/*/*.json"), *ROOT.glob("tests/benchmarks/*/*.json")]
    texts = [text for path in paths for text in rules.read_texts(str(path))]
    found = rules.measure(texts, rules.read_labels())
    for part in ("fitted", "held_out", "last"):
        counts = found[part]
        assert counts["stated"] > 50
        assert counts["rules"] >= 0.9 * counts["told"]
        assert counts["found"] >= 0.6 * counts["stated"]


def test_texts_of_users_are_read_from_corpora_and_transcripts(tmp_path: Path) -> None:
    rows: list[dict[str, str]] = [
        {"space": "a", "text": "never push on a friday", "role": "user"},
        {"space": "a", "text": "never push at all", "role": "assistant"},
        {"space": "a", "text": "user: always squash before a merge\nassistant: done"},
    ]
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert rules.read_texts(str(path)) == ["never push on a friday", "always squash before a merge"]
    done = CliRunner().invoke(rules.command, [str(path)], catch_exceptions=False)
    assert done.output.split("\n")[1].split() == ["unknown", "2", "0", "2", "0", "0", "0", "0"]
