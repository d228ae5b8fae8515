"""How the time to look for secrets grows with a text."""

from __future__ import annotations

import time

from memfs.secrets import find_secrets


def check_growth(unit: str) -> None:
    """Assert that four times the text takes little more than four times as long, up to 185 kB."""

    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        times = []
        for _ in range(3):
            before = time.process_time()
            find_secrets(text)
            times.append(time.process_time() - before)
        return min(times)

    assert seconds(185_000) < 9 * max(seconds(46_250), 0.005)
