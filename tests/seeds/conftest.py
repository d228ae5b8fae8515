from tests.cli.conftest import memfs

__all__ = ["memfs"]
