"""A Python of its own for the hooks of a project, which can be taken away, fail, or hang."""

import os
import sys
from pathlib import Path


class Interpreter:
    """As a virtual environment has it: what memfs is installed with is `path`."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "env/bin/python"
        self.path.parent.mkdir(parents=True)
        (folder / "env/pyvenv.cfg").write_bytes(Path(sys.prefix, "pyvenv.cfg").read_bytes())
        (folder / "env/lib").symlink_to(Path(sys.prefix, "lib"))
        self.works()

    def works(self) -> None:
        """Be Python."""
        self.gone()
        self.path.symlink_to(os.path.realpath(sys.executable))

    def gone(self) -> None:
        """Be no more, as after an update of Python."""
        self.path.unlink(missing_ok=True)

    def does(self, command: str) -> None:
        """Be a shell script instead."""
        self.gone()
        self.path.write_text(f"#!/bin/sh\n{command}\n")
        self.path.chmod(0o755)
