"""Jupyter notebooks: their cells, cut at the headings of those in Markdown; no outputs."""

from __future__ import annotations

import json

from memfs.core import headings
from memfs.core.privacy import public
from memfs.ingest.cutting.content import FileContent


def read(text: str, _suffix: str) -> FileContent:
    """Return the sections of a notebook; their lines are numbered by cells."""
    lines: list[str] = []
    numbers: list[int] = []
    for number, cell in enumerate(json.loads(text)["cells"], 1):
        source = cell["source"]
        body = public("".join(source) if isinstance(source, list) else str(source)).strip("\n")
        if not body:
            continue
        if cell["cell_type"] == "code":
            body = f"```\n{body}\n```"
        more = [*body.split("\n"), ""]
        lines += more
        numbers += [number] * len(more)
    return FileContent(list(headings.split_markdown("\n".join(lines))), numbers)
