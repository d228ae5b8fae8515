"""`memfs demo`."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

import click

from memfs.cli import console
from memfs.core.errors import BUG, MemfsError
from memfs.store import git, resources

_SESSION = "demo-session"


@click.command("demo")
@click.option("--keep", is_flag=True, help="Keep the temporary project, and print its path.")
def command(keep: bool) -> None:
    """Show the main steps with a real store in a temporary project, offline.

    The demo does not read or write your data: it has its own home folder.
    """
    folder = tempfile.mkdtemp(prefix="memfs-demo-")
    try:
        _play(folder)
    finally:
        if keep:
            console.talk(f"the project is in {folder}/shop")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _play(folder: str) -> None:
    stage = _Stage(folder)
    stage.title("A project gets a memory: files in .agent-memory/, committed with the code")
    stage.memfs("init")
    stage.title("memfs reads an earlier session, recorded by Claude Code")
    stage.memfs("ingest", resources.path("templates", "demo", "session.jsonl"))
    stage.title("Facts go into blocks, and long-term details into the archive")
    stage.memfs("edit", "human", "--append", "Name: Alice")
    stage.memfs("edit", "system_rules", "--append", "HTTP timeouts are 5 seconds.")
    stage.memfs(
        "archive", "add", "The payments sandbox resets every night at 02:00 UTC.", "-t", "payments"
    )
    stage.title("A session starts: the hook adds memory to the assistant's context")
    stage.hook("SessionStart", source="startup")
    stage.title("After an edit of a block, memfs adds the change to the next prompt")
    stage.memfs("edit", "human", "--replace", "Alice", "Bob")
    stage.hook("UserPromptSubmit", prompt="good morning")
    stage.hook("UserPromptSubmit", prompt="good morning")
    stage.title("memfs also recalls related past messages for a prompt, marked as reference data")
    stage.hook("UserPromptSubmit", prompt="what was our decision on retries, backoff and jitter?")
    stage.title("Undo restores exactly the same bytes; no text is lost")
    stage.memfs("undo", "human")
    stage.memfs("log", "human")
    stage.title("Hybrid search over sessions, archive and blocks: by words and by meaning")
    stage.memfs("search", "how long do we wait between attempts", "-n", "3")
    stage.title("That is the whole demo. In your own project, run: memfs init && memfs install")


class _Stage:
    """A temporary project with its own home folder, where commands are shown and run."""

    def __init__(self, folder: str) -> None:
        self._project = f"{folder}/shop"
        os.makedirs(self._project)
        os.makedirs(f"{folder}/home")
        passed = ("PATH", "TERM", "LANG", "NO_COLOR", "COLUMNS", "SYSTEMROOT", "TMPDIR")
        self._env = {name: os.environ[name] for name in passed if name in os.environ}
        self._env |= {"HOME": f"{folder}/home", "USERPROFILE": f"{folder}/home"}
        self._env["MEMFS_SERVICE_MODE"] = "off"  # nothing outlives the demo
        if not git.make(self._project):
            raise MemfsError(
                "git could not create a repository for the demo", "check that git is installed"
            )

    def title(self, text: str) -> None:
        console.echo("")
        console.echo(console.style(f"── {text}", "cyan", bold=True))

    def memfs(self, *arguments: str) -> None:
        """Print and run a memfs command in the project."""
        words = " ".join(f'"{a}"' if " " in a else os.path.basename(a) for a in arguments)
        console.echo(console.style(f"$ memfs {words}", "", bold=True))
        sys.stdout.flush()
        self._run(arguments, None)

    def hook(self, event: str, **more: str) -> None:
        """Call the hook as Claude Code does, and print the added context."""
        words = f": {more['prompt']}" if "prompt" in more else ""
        console.echo(console.style(f"> {event}{words}", "", bold=True))
        payload = {"session_id": _SESSION, "cwd": self._project, "hook_event_name": event, **more}
        out = self._run(("hook", "claude"), json.dumps(payload).encode())
        text = (
            json.loads(out)["hookSpecificOutput"]["additionalContext"] if out else "(nothing new)"
        )
        for line in text.rstrip("\n").splitlines():
            console.data("  │ " + line)

    def _run(self, arguments: tuple[str, ...], stdin: bytes | None) -> bytes:
        done = subprocess.run(  # noqa: S603 - ourselves
            [sys.executable, "-m", "memfs", *arguments],
            cwd=self._project,
            env=self._env,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            stdout=None if stdin is None else subprocess.PIPE,
            check=False,
            start_new_session=True,  # Ctrl-C ends us, and we end it
        )
        if done.returncode:
            raise MemfsError(f"'memfs {arguments[0]}' failed in the demo", "report this bug", BUG)
        return done.stdout or b""
