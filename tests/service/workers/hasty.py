"""A worker that waits for no lock."""

from memfs.service import worker


def main() -> None:
    worker.PATIENCE = 0.1
    worker.main()
