"""Check data sources: whether their paths are there, and how much of them is left out."""

from __future__ import annotations

import os
from collections.abc import Iterator

from memfs.ingest.source_files import HIDDEN, IGNORED, UNMATCHED
from memfs.ops.doctor.finding import Finding
from memfs.recall import source_index
from memfs.store import data_sources
from memfs.store.blocks import Place

_WANTED = (HIDDEN, IGNORED, UNMATCHED)  # what somebody said is to be left out
_MANY = 0.2  # share of files


def check_sources(place: Place) -> Iterator[Finding]:
    """Check each source. What is refused is told with the configuration (see `config_check`)."""
    for source in data_sources.list_sources(place):
        name, hint = source.name, f"memfs source sync {source.name}"
        for path in source.paths:
            if not os.path.lexists(path):
                yield Finding(
                    "warning",
                    f"the source {name} names {path}, which is not there",
                    f"change sources.{name}.paths, or memfs source rm {name}",
                )
        state = source_index.load_state(source)
        if state is None or not state.whole:
            what = "is not indexed yet" if state is None else "is not indexed to its end"
            yield Finding("warning", f"the source {name} {what}", hint)
            continue
        left = {why: count for why, count in state.left.items() if why not in _WANTED}
        count = sum(left.values())
        told = "; ".join(f"{why}: {number:,}" for why, number in left.items())
        if count > _MANY * (count + state.files):
            text = f"the source {name} leaves out {count:,} of {count + state.files:,} files"
            yield Finding("warning", f"{text} ({told})", f"memfs source show {name}")
        else:
            yield Finding(
                "ok", f"the source {name}: {state.files:,} files, {state.chunks:,} chunks"
            )
