"""The real assistants as npm packages: which versions are tested, and where they are installed.

    npm install --ignore-scripts --prefix DIR $(python -m tests.hosts.installed)
    export MEMFS_HOSTS_DIR=DIR

Each `*_cli.py` says what the program of one assistant is called and what npm calls it; the versions
of all stand in `versions.json`, which `python -m tests.hosts.raise_versions` writes.

No install script is run and no launcher is needed: where a package holds a program for this machine
it is called itself. One prefix holds all, or each has one of its own in MEMFS_HOSTS_DIR.
"""

import json
import os
import platform
import sys
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple, cast

_HINT: Final = """\
{title} is not installed for the host tests. Install it (no install script is run) and say where:
  npm install --ignore-scripts --prefix DIR {package}
  export MEMFS_HOSTS_DIR=DIR        # or {variable}=/path/to/it"""


VERSIONS: Final = Path(__file__).with_name("versions.json")


@cache
def _load_versions() -> dict[str, str]:
    return cast("dict[str, str]", json.loads(VERSIONS.read_text()))


class Installation(NamedTuple):
    """One program: its npm package, and its file as a pattern ``inside`` node_modules.

    ``source`` is the package that has its version, ``alias`` what npm is asked for where the folder
    has another name, or to bring another package, with ``{version}`` in it.
    """

    title: str
    source: str
    folder: str
    inside: str
    alias: str = ""

    @property
    def variable(self) -> str:
        """The variable that names the program."""
        return f"MEMFS_{self.title.removeprefix('The ').split()[0].upper()}_BIN"

    @property
    def version(self) -> str:
        """The version that is tested."""
        return _load_versions()[self.source]

    @property
    def package(self) -> str:
        """What npm installs."""
        alias = self.alias.format(version=self.version)
        return f"{self.folder}@{alias or self.version}"

    def find(self) -> Path | None:
        """The program that ``variable`` names, else that of a node_modules of MEMFS_HOSTS_DIR."""
        if program := os.environ.get(self.variable):
            return Path(program) if Path(program).is_file() else None
        if not (folder := os.environ.get("MEMFS_HOSTS_DIR")):
            return None
        inside = f"node_modules/{self.folder}/{self.inside}"
        patterns = (inside, f"*/{inside}")
        root = Path(folder).absolute()  # it is started in another folder
        return next((p for each in patterns for p in sorted(root.glob(each))), None)

    def require(self) -> Path:
        """The program; FileNotFoundError says how to install it."""
        if (program := self.find()) is None:
            said = _HINT.format(title=self.title, package=self.package, variable=self.variable)
            raise FileNotFoundError(said)
        return program


def _chip() -> str:
    machine = platform.machine().lower()
    return {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(machine, machine)


_MUSL: Final = sys.platform == "linux" and platform.libc_ver()[0] != "glibc"
HERE: Final = f"{sys.platform}-{_chip()}"  # what npm calls this machine
LIBC: Final = f"{HERE}-musl" if _MUSL else HERE
PREFIXED_LIBC: Final = HERE.replace("linux", "linuxmusl") if _MUSL else HERE

INSPECTOR: Final = Installation(  # no assistant: it looks at MCP servers
    "The MCP inspector",
    "@modelcontextprotocol/inspector",
    "@modelcontextprotocol/inspector",
    "clients/launcher/build/index.js",
)
SKILLS: Final = Installation(  # puts skills into the folders of many; newer ones need Node 22
    "The skills program", "skills", "skills", "bin/cli.mjs"
)
_PREBUILT: Final = {"darwin-arm64": "mac-arm64-metal", "darwin-x64": "mac-x64"}.get(HERE, HERE)
LLAMA: Final = Installation(  # no assistant: it runs the model of tests/agent/test_small_model.py
    "The llama library node-llama-cpp",
    "node-llama-cpp",
    "node-llama-cpp",
    "dist/index.js",
    f"{{version}} @node-llama-cpp/{_PREBUILT}@{{version}}",
)


def list_installations() -> list[Installation]:
    """List the programs of all assistants, and those that look at what memfs has for them."""
    from tests.hosts import assistants  # which need this module

    return [*(each.installation for each in assistants.ALL), INSPECTOR, SKILLS]


if __name__ == "__main__":
    sys.stdout.write(" ".join(each.package for each in list_installations()) + "\n")
