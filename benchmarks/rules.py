"""How much of what is told as a standing rule is one, and how many stated rules are found.

The sentences of users were labelled by hand. `rule_labels.tsv` has a checksum of each, its part
and its label: a `rule`, `none`, or `also`: a rule that was met only because it was told, and is not
among those to find. The rules of the part `fitted` were read while the recogniser was written,
those of `held_out` after its first version, those of `last` after its second.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from zlib import crc32

import click

from benchmarks import command as runner
from memfs import hosts
from memfs.cli import console, layout, options
from memfs.core.errors import UsageError
from memfs.ingest import transcript_files
from memfs.recall.own_words import own_words
from memfs.recall.rule_recognition import extract_rules
from memfs.recall.sentences import split_sentences

LABELS = os.path.join(os.path.dirname(__file__), "rule_labels.tsv")
_COLUMNS = ("told", "rules", "unlabelled", "stated", "found", "found_told", "proposed")


def read_texts(path: str) -> list[str]:
    """Read what users said: in a file with `sessions`, a corpus of `text`s, or a transcript."""
    try:
        with open(path, "rb") as handle:
            data = handle.read()
        if path.endswith(".json") and b'"sessions"' in data:
            turns = [turn for each in json.loads(data)["sessions"] for turn in each["turns"]]
            return [turn["text"] for turn in turns if turn["role"] == "user"]
        if data.startswith(b'{"space"'):
            return [text for line in data.splitlines() for text in _read_row(json.loads(line))]
        found = transcript_files.sessions(path, "")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    return [
        message.text
        for host, identity in found
        if host in hosts.READERS
        for message in hosts.reader(host).read_transcript(data, identity, start=0).messages
        if message.role == "user"
    ]


def _read_row(row: dict[str, str]) -> list[str]:
    """Return the user's texts of a row: a turn, or a session whose turns begin with a role."""
    if row.get("role"):
        return [row["text"]] if row["role"] == "user" else []
    turns = row["text"].replace("\nassistant: ", "\n\0").replace("\nuser: ", "\n\0user: ")
    parts = turns.split("\n\0")
    return [part.removeprefix("user: ") for part in parts if part.startswith("user: ")]


def measure(texts: Iterable[str], labels: dict[str, tuple[str, str]]) -> dict[str, Counter[str]]:
    """Count by part what is told, and what is found of the rules that the texts state."""
    parts: dict[str, Counter[str]] = {}
    met: set[str] = set()
    for text in dict.fromkeys(texts):
        own = split_sentences(own_words(text))
        known = [*own, *(each for each in split_sentences(text) if each not in own)]
        labelled = {each: labels[mark] for each in known if (mark := _sign(each)) in labels}
        extracted = extract_rules(own)
        for rule, certain in extracted:
            of = [label for sentence, label in labelled.items() if sentence in rule]
            part = of[0][0] if of else "unknown"
            counts = parts.setdefault(part, Counter())
            counts["told" if certain else "proposed"] += 1
            counts["rules"] += certain and any(label in ("rule", "also") for _, label in of)
            counts["unlabelled"] += certain and not of
        for sentence, (part, label) in labelled.items():
            if label == "rule" and _sign(sentence) not in met:
                met.add(_sign(sentence))
                sure = [certain for rule, certain in extracted if sentence in rule]
                counts = parts.setdefault(part, Counter())
                counts.update(stated=1, found=bool(sure), found_told=any(sure))
    return parts


def _sign(sentence: str) -> str:
    return f"{crc32(' '.join(sentence.split()).encode()):08x}"


def read_labels(path: str = LABELS) -> dict[str, tuple[str, str]]:
    """Return the part and the label of each labelled sentence, by its checksum."""
    with open(path, encoding="utf-8") as handle:
        rows: Iterator[list[str]] = (line.split() for line in handle)
        return {mark: (part, label) for mark, part, label in rows}


@click.command("rules", cls=runner.Measurement)
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE…")
@options.json_option
def command(files: tuple[str, ...], as_json: bool) -> None:
    """Measure standing rules on scenarios, corpora of sessions and transcripts.

    TOLD are those that an assistant is told, RULES those of them that are rules by the labels,
    STATED the labelled rules in the files, FOUND those told or proposed, and PROPOSED all that a
    review is offered. What has no label counts as no rule.
    """
    found = measure((text for path in files for text in read_texts(path)), read_labels())
    if as_json:
        console.as_json(found)
        return
    rows = [("PART", *(name.replace("_", " ").upper() for name in _COLUMNS))]
    rows += [(part, *(str(counts[name]) for name in _COLUMNS)) for part, counts in found.items()]
    console.echo(layout.table(rows, right=tuple(range(1, 8))))


if __name__ == "__main__":
    runner.run(command)
