"""An index over files that a test writes: one line of JSON for each document."""

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from memfs.search.catalog import IndexSource
from memfs.search.engine import Engine
from memfs.search.indexer import Indexed, Indexer
from memfs.search.request import Mode

Document = dict[str, object]


def document(ident: str, text: str, **more: object) -> Document:
    return {"id": ident, "kind": "message", "text": text, **more}


def session(name: str, day: int, said: Iterable[tuple[str, str]]) -> list[Document]:
    """Return the turns of a session on a day of May, whose group has the day's number."""
    return [
        document(
            f"{name}-{at}",
            text,
            session=name,
            group=day,
            role=role,
            host="claude",
            time=f"2026-05-{day:02}T10:00:{at % 60:02}Z",
        )
        for at, (role, text) in enumerate(said)
    ]


def read(source: IndexSource, start: int) -> Iterator[Document]:
    with open(source.path, "rb") as file:
        file.seek(start)
        for line in file:
            yield json.loads(line)


class Corpus:
    """Files of documents below `folder`, and their index beside them."""

    def __init__(self, folder: Path) -> None:
        self.files = folder / "files"
        self.files.mkdir(parents=True)
        self.index = str(folder / "index")

    def write(self, name: str, *documents: Document) -> Path:
        """Replace a file, as `files.write` does: by another one."""
        path = self.files / name
        temporary = self.files / ".new"
        temporary.write_bytes(lines(*documents))
        os.replace(temporary, path)
        return path

    def append(self, name: str, *documents: Document) -> None:
        with (self.files / name).open("ab") as file:
            file.write(lines(*documents))

    def sources(self) -> list[IndexSource]:
        return [
            IndexSource(str(path), "message", grows=path.suffix == ".jsonl")
            for path in sorted(self.files.iterdir())
        ]

    def update(self, *, embed: bool = False) -> Indexed:
        indexer = Indexer(self.index)
        try:
            done = indexer.update(self.sources(), read)
            if embed:
                indexer.embed()
        finally:
            indexer.close()
        return done

    def engine(self, mode: Mode = "hybrid") -> Engine:
        return Engine.open(self.index, mode)

    def ids(self) -> list[str]:
        """The ids of all indexed documents, with repetitions, sorted."""
        text = self.engine("text").text
        found = text.search(text.number_query(0), 10_000)
        return sorted(str(text.read_fields(address)["id"][0]) for _, address in found)


def lines(*documents: Document) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in documents)
