"""Counters of the service, as Prometheus reads them. No words, no names of people or projects."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


class ServiceMetrics:
    """What one service has done since its start."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "memfs_team_requests", "Requests", ["path", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "memfs_team_seconds", "Seconds a request took", ["path"], buckets=_SECONDS,
            registry=self._registry,
        )  # fmt: skip
        self._messages = Counter(
            "memfs_team_messages", "Messages that were pushed", ["outcome"],
            registry=self._registry,
        )  # fmt: skip

    def note_request(self, path: str, status: int, seconds: float) -> None:
        """Count a request to one of our addresses."""
        self._requests.labels(path, status).inc()
        self._seconds.labels(path).observe(seconds)

    def note_messages(self, outcome: str, count: int) -> None:
        """Count messages that were stored, known already, or refused."""
        if count:
            self._messages.labels(outcome).inc(count)

    def format(self) -> bytes:
        """Return all counters as text."""
        return generate_latest(self._registry)
