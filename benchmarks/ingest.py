"""How fast transcripts are ingested and indexed, compared with parsing and indexing their bytes.

There are two floors. One parses every line and indexes it as it is: the same bytes, twice. The
other indexes only the texts in it, which are a part of the bytes, and knows where they stand. The
transcripts are those of a folder, read where they are, or made of text that is on every machine:
Python's sources and their docstrings.
"""

import ast
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import NamedTuple

import click
import tantivy

from benchmarks import command as runner
from memfs.cli import console, layout, options, progress
from memfs.cli.layout import format_size
from memfs.core.errors import NotFoundError
from memfs.ingest import transcript_files
from memfs.ingest import transcripts as ingest_transcripts
from memfs.ingest import workers as ingest_workers
from memfs.recall import index_sources
from memfs.store import blocks, lock, store_paths

_TURNS = 60  # of a session
_OUTPUT = 6000  # characters of a tool's output
_SOURCES = 2 << 20  # bytes of Python's sources that are used
_HEAP = 64 << 20
_STEP = f"""import sys
sys.path.append({os.path.dirname(os.path.dirname(__file__))!r})
from benchmarks import ingest
ingest.measure_step(*sys.argv[1:])"""


@dataclass(frozen=True)
class Speed:
    """The cost of one step.

    `ratio` is its speed to that of the floor that indexes all bytes, `of_texts` to that of the
    other, 0 where there is no floor. `memory` is what it held at most, in bytes: its largest worker
    counted once for each worker.
    """

    name: str
    seconds: float
    bytes: int
    documents: int
    memory: int
    ratio: float
    of_texts: float


class _Text(NamedTuple):
    said: list[str]  # paragraphs of docstrings
    code: str


def run(size: int, tick: Callable[[int], object], source: str = "") -> list[Speed]:
    """Time the floor and each step of ours on the transcripts in the folder `source`.

    Without one, `size` bytes of transcripts are made. Raises `NotFoundError` if it holds none.
    """
    with tempfile.TemporaryDirectory(prefix="memfs-bench-") as folder:
        if source:
            made = transcript_files.measure_size(_list_transcripts(source))
        else:
            source = f"{folder}/transcripts"
            made = write(source, size, tick)
        if not made:
            raise NotFoundError(f"there is no transcript of a known assistant in {source}")
        return _run_steps(folder, os.path.abspath(source), made)


def _run_steps(folder: str, source: str, made: int) -> list[Speed]:
    project = f"{folder}/project"
    root = f"{project}/{store_paths.NAME}"
    os.makedirs(root)
    os.mkdir(f"{project}/.git")
    with open(f"{root}/{store_paths.CONFIG}", "w", encoding="utf-8") as handle:
        handle.write("memfs: 1\n")
    lines = _run_child(folder, "lines", source, f"{folder}/lines")
    texts = _run_child(folder, "texts", source, f"{folder}/texts")
    steps = [
        ("json.loads and bare tantivy, every line", lines),
        ("json.loads and bare tantivy, texts alone", texts),
        ("recall and index", _run_child(folder, "ingest", source, project)),
        ("again, nothing is new", _run_child(folder, "ingest", source, project)),
        ("vectors", _run_child(folder, "embed", source, project)),
    ]
    return [
        Speed(
            name,
            step["seconds"],
            made,
            int(step["documents"]),
            int(step["memory"]),
            *(
                0 if name == "vectors" else floor["seconds"] / step["seconds"]
                for floor in (lines, texts)
            ),
        )
        for name, step in steps
    ]


def _list_transcripts(top: str) -> list[str]:
    """List the files of a folder that ingestion reads; the floors read the same ones."""
    return [path for path in transcript_files.find([top]) if transcript_files.is_transcript(path)]


def write(folder: str, size: int, tick: Callable[[int], object]) -> int:
    """Write Claude Code transcripts of `size` bytes or a session more; return the bytes."""
    os.makedirs(folder)
    text = _load_text()
    made = number = 0
    while made < size:
        session = f"5e551011-0000-4000-8000-{number:012x}"
        data = b"".join(_render_session(session, number, text))
        with open(f"{folder}/{session}.jsonl", "wb") as handle:
            handle.write(data)
        tick(min(len(data), size - made))
        made += len(data)
        number += 1
    return made


def _render_session(session: str, number: int, text: _Text) -> Iterator[bytes]:
    """Yield the lines of a session: each turn a question, a tool's use and output, an answer."""
    for turn in range(_TURNS):
        at = (number * _TURNS + turn) * 7919
        asked, answered = (text.said[(at + n) % len(text.said)] for n in (0, 1))
        start = at * 13 % (len(text.code) - _OUTPUT)
        output = text.code[start : start + _OUTPUT]
        use = {
            "type": "tool_use",
            "id": f"t{at}",
            "name": "Read",
            "input": {"file_path": f"/w/{at}.py"},
        }
        result = {"type": "tool_result", "tool_use_id": f"t{at}", "content": output}
        file = {"type": "text", "file": {"filePath": f"/w/{at}.py", "content": output}}
        lines: list[tuple[str, object, dict[str, object]]] = [
            ("user", asked, {}),
            ("assistant", [use], {}),
            ("user", [result], {"toolUseResult": file}),
            ("assistant", [{"type": "text", "text": answered}], {}),
        ]
        for place, (role, content, more) in enumerate(lines):
            line = {
                "type": role,
                "message": {"role": role, "content": content},
                "uuid": f"{at}-{place}",
                "sessionId": session,
                "cwd": "/w",
                "gitBranch": "main",
                "timestamp": f"2026-05-{turn % 28 + 1:02}T10:00:{place:02}.000Z",
                **more,
            }
            yield json.dumps(line).encode() + b"\n"
        yield json.dumps({"type": "file-history-snapshot", "messageId": f"{at}"}).encode() + b"\n"


def _load_text() -> _Text:
    folder = sysconfig.get_paths()["stdlib"]
    docs: list[str] = []
    code: list[str] = []
    size = 0
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".py") or size > _SOURCES:
            continue
        with open(f"{folder}/{name}", encoding="utf-8", errors="replace") as handle:
            source = handle.read()
        code.append(source)
        size += len(source)
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                docs += [part for part in (ast.get_docstring(node) or "").split("\n\n") if part]
    return _Text(docs, "".join(code))


def _run_child(folder: str, *arguments: str) -> dict[str, float]:
    """Run one step in a process of its own, so that its memory can be measured."""
    command = [sys.executable, "-P", "-c", _STEP, *arguments]
    env = {**os.environ, "HOME": folder, "MEMFS_HOME": f"{folder}/user"}
    done = subprocess.run(command, capture_output=True, env=env, check=False)  # noqa: S603
    if done.returncode:
        raise RuntimeError(done.stderr.decode(errors="replace"))
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _index_lines(paths: list[str], index: str, extract: Callable[[bytes], Iterator[str]]) -> int:
    """Index the texts that `extract` gives of each line, in one field; return how many."""
    os.makedirs(index)
    schema = tantivy.SchemaBuilder().add_text_field("text", stored=True).build()
    writer = tantivy.Index(schema, path=index).writer(_HEAP, 1)
    count = 0
    for path in paths:
        with open(path, "rb") as handle:
            for line in handle:
                for text in extract(line):
                    document = tantivy.Document()
                    document.add_text("text", text)
                    writer.add_document(document)
                    count += 1
    writer.commit()
    writer.wait_merging_threads()
    return count


def _yield_line(line: bytes) -> Iterator[str]:
    """Yield a line that is JSON, as it is."""
    try:
        json.loads(line)
    except ValueError:  # some are broken
        return
    yield line.decode("utf-8", "replace")


def _yield_texts(line: bytes) -> Iterator[str]:
    """Yield the texts of a line, whole and as they are."""
    try:
        found = json.loads(line)
    except ValueError:  # some are broken
        return
    message = found.get("message") if isinstance(found, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    for block in content if isinstance(content, list) else [{"text": content}]:
        if not isinstance(block, dict):
            continue
        text = block.get("text") or block.get("content") or block.get("input")
        if isinstance(text, list):
            text = "\n".join(str(each.get("text")) for each in text if isinstance(each, dict))
        if text:
            text = text if isinstance(text, str) else json.dumps(text)
            yield text if text.isascii() else text.encode("utf-8", "replace").decode()


def _run_step(step: str, source: str, project: str) -> int:
    place = blocks.Place(store_paths.find(project), None)
    if step == "embed":
        done: list[int] = []
        index_sources.sync(place, embed=True, stage=lambda *_: done.append)
        return sum(done)
    tally = ingest_transcripts.Tally()
    with lock.hold_lock(place.home, name=lock.INGEST), index_sources.open_feed(place) as index:
        ingest_transcripts.ingest_transcripts(
            place.home, transcript_files.find([source]), tally, None, index
        )
    return tally.messages


def _measure_memory() -> int:
    try:
        import resource  # not on Windows
    except ImportError:  # not on Windows
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    workers = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * ingest_workers.workers()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + workers) * unit


def measure_step(step: str, source: str, where: str) -> None:
    """Run one step, and print its seconds, documents and memory as JSON."""
    extract = {"lines": _yield_line, "texts": _yield_texts}.get(step)
    paths = _list_transcripts(source) if extract else []
    start = time.perf_counter()
    count = _index_lines(paths, where, extract) if extract else _run_step(step, source, where)
    seconds = time.perf_counter() - start
    found = {"seconds": seconds, "documents": count, "memory": _measure_memory()}
    sys.stdout.write(json.dumps(found))


@click.command("ingest", cls=runner.Measurement)
@options.number_option("--size", help="Megabytes of transcripts.", default=200)
@click.option(
    "--from",
    "folder",
    type=click.Path(exists=True, file_okay=False),
    metavar="FOLDER",
    help="Read the transcripts in a folder, and make none.",
)
@options.json_option
def command(size: int, folder: str | None, as_json: bool) -> None:
    """Time ingestion against json.loads and bare tantivy over the same bytes.

    RATIO is to a floor that indexes every line as it is, OF TEXTS to one that indexes only the
    texts in it. The transcripts are made of Python's own sources and docstrings, or are your own.
    """
    length = size * 1_000_000
    with progress.show_stages(in_bytes=("writing transcripts",)) as stage:
        tick = _ignore_progress if folder else stage("writing transcripts", length)
        speeds = run(length, tick, folder or "")
    if as_json:
        console.as_json([asdict(speed) for speed in speeds])
        return
    rows = [("STEP", "TIME", "SPEED", "DOCUMENTS/S", "MEMORY", "RATIO", "OF TEXTS")]
    for each in speeds:
        speed = f"{format_size(each.bytes / each.seconds)}/s"
        documents = f"{each.documents / each.seconds:,.0f}"
        row = (each.name, f"{each.seconds:.2f} s", speed, documents)
        rows.append((*row, format_size(each.memory), _format(each.ratio), _format(each.of_texts)))
    console.echo(layout.table(rows, right=(1, 2, 3, 4, 5, 6)))


def _format(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio else "-"


def _ignore_progress(_: int) -> None:
    pass


if __name__ == "__main__":
    runner.run(command)
