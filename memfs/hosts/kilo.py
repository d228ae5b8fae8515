"""Kilo, a fork of opencode, which runs the same plugin (tried by hand with 7.7.9). Hot path.

Its sessions are not read: an index of its database is one that a reader of foreign files may not
trust.
"""

from memfs.hosts.opencode import OpenCode


class _Kilo(OpenCode):
    NAME = "kilo"
    TITLE = "Kilo"
    COMMAND = "kilo"
    HOME = ".config/kilo"
    VARIABLES = ("KILO",)
    FOLDERS = ()
    IS_IMITATED = False
    TESTED = "tested by hand, version 7.7.9 (kilo.ai/docs)"

    def list_databases(self, home: str) -> list[str]:  # noqa: ARG002 - see above
        return []


HOST = _Kilo()
