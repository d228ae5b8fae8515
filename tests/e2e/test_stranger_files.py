"""Files of strangers that are none, too large or too many keep nobody waiting."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.program import call_hook, git, hook, run, trust
from tests.e2e.test_strangers import clone as clone  # noqa: PLC0414 - a fixture


def fifo(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def giant(path: Path) -> None:
    with path.open("wb") as handle:
        handle.truncate(64 << 30)


KINDS = [fifo, *(pytest.param(each, marks=pytest.mark.thorough) for each in (device, giant))]


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize(
    "names",
    [
        ("config.yaml",),
        ("blocks/rules.md", "blocks/new.md", "archive/2026-01/a.md", "static/a.md"),
        (
            "local/journal.jsonl",
            "local/hook.log",
            "local/recall/claude/s.jsonl",
            "facts/2026-01.jsonl",
        ),
        ("local/heads.json", "local/lock", "local/outcomes.jsonl"),
    ],
    ids=["config", "texts", "logs", "state"],
)
def test_what_is_no_file_is_waited_for_by_nobody(
    clone: Path, names: tuple[str, ...], make: Callable[[Path], None]
) -> None:
    trust(clone)
    for name in names:
        path = clone / ".agent-memory" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        make(path)
    commands: tuple[list[str], ...] = (
        ["status"],
        ["log"],
        ["doctor"],
        ["edit", "rules", "--append", "x"],
        ["search", "timeouts"],
        ["ingest"],
    )
    for words in commands:
        code, said = run(clone, *words)
        assert code in (0, 1, 2), (words, said)
    hook(clone)


def test_a_link_to_a_trusted_store_serves_nobody(clone: Path, tmp_path: Path) -> None:
    trust(clone)
    other = tmp_path / "other"
    other.mkdir()
    (other / ".agent-memory").symlink_to(clone / ".agent-memory")
    git(other, "init", "-q")
    assert "Timeouts" not in hook(other)


def test_a_full_disk_keeps_nobody_from_the_brief(clone: Path) -> None:
    trust(clone)
    store = clone / ".agent-memory/local"
    shutil.rmtree(store / "sessions", ignore_errors=True)
    payload = {"session_id": "s", "cwd": str(clone), "hook_event_name": "SessionStart"}
    above = ("/bin/sh", "-c", 'ulimit -f 0; exec "$0" "$@"')
    assert "Timeouts are 5 seconds." in call_hook(payload, "claude", *above)


def test_many_blocks_and_deep_folders_take_no_minutes(clone: Path) -> None:
    folder = clone / ".agent-memory/blocks"
    for number in range(3000):
        (folder / f"b{number}.md").write_text(f"---\ndescription: {number}\n---\nx\n")
    code, said = run(clone, "show")
    assert code == 0, said
    deep = clone / ".agent-memory/blocks"
    os.chdir(deep)
    for _ in range(1500):
        os.mkdir("n")
        os.chdir("n")
    os.chdir(clone)
    try:
        code, said = run(clone, "doctor")
    finally:
        subprocess.run(["rm", "-rf", str(deep / "n")], check=True)
    assert code in (0, 1), said
