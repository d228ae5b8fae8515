"""How much a member may ask for: a bucket for each token, refilled all the time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from memfs.team.requests import BusyError

_BURST = 2.0  # seconds' worth at once
_MOST = 20_000  # tokens that are remembered


class RateLimit:
    """Lets so many requests, or messages, a second through for each token. Thread-safe."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._lock = threading.Lock()
        self._buckets: dict[str, tuple[float, float]] = {}  # what is left, and when that was

    def check(self, token: str, cost: int = 1) -> None:
        """Take so much out of a token's bucket, more than is left if need be.

        Raises `BusyError` for an empty one.
        """
        now = self._clock()
        with self._lock:
            if len(self._buckets) > _MOST:
                self._buckets.clear()
            full = self._rate * _BURST
            left, then = self._buckets.pop(token, (full, now))
            left = min(full, left + (now - then) * self._rate)
            self._buckets[token] = (left - cost if left >= 1 else left), now
        if left < 1:
            raise BusyError("you ask too often", "try again in a second")
