from __future__ import annotations

from tests.cli.conftest import memfs

__all__ = ["memfs"]
