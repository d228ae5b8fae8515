"""The name under which memfs is installed: on the package index, `memfs` is somebody else's."""

DISTRIBUTION = "agent-memfs"


def name_extra(extra: str) -> str:
    """Return the command that brings what `extra` needs."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"
