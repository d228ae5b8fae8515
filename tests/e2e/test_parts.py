"""A part that can be left out: with its folder gone, everything else works and says so."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import memfs
from memfs.core import parts

ROOT = Path(memfs.__file__).parent.parent
COMMANDS = {
    "agent": ["agent", "hello"],
    "importers": ["import", "--list"],
    "team": ["team", "status"],
    "web": ["web", "--no-open"],
}
MAIN_JOB = """
import sys
from memfs.cli.main import main
for line in ("init", "status", "doctor", "search user", "service stop", *sys.argv[1:]):
    sys.argv[1:] = line.split()
    assert main() == 0, line
"""


@pytest.mark.parametrize("gone", [*((part,) for part in parts.PARTS), tuple(parts.PARTS)], ids=str)
def test_the_main_job_is_done_without_a_part(gone: tuple[str, ...], tmp_path: Path) -> None:
    """With all of them gone, the demo is played, too."""
    for name in ("memfs", "hooks", "templates"):
        shutil.copytree(ROOT / name, tmp_path / name)  # with what Python has compiled
    for part in gone:
        shutil.rmtree(tmp_path / "memfs" / part)
    home = tmp_path / "home/project"
    (home / ".git").mkdir(parents=True)
    env = {"PATH": os.environ["PATH"], "HOME": str(home.parent), "PYTHONPATH": str(tmp_path)}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-P", *words]
        return subprocess.run(
            command, cwd=home, env=env, capture_output=True, text=True, check=False
        )

    done = run("-c", MAIN_JOB, *["demo"][: len(gone) - 1])
    assert done.returncode == 0, (done.stdout, done.stderr)
    done = run("-m", "memfs", *COMMANDS[gone[0]])
    assert done.returncode == 1
    assert done.stderr.startswith(
        f"error: memfs is installed without the part '{gone[0]}'\nhint: install all"
    )


def test_an_extra_is_named_by_the_command_of_what_installed_memfs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert parts.name_extra("team") == "pip install 'agent-memfs[team]'"
    (tmp_path / "pipx_metadata.json").touch()
    assert parts.name_extra("team") == "pipx install --force 'agent-memfs[team]'"
    (tmp_path / "uv-receipt.toml").touch()
    assert parts.name_extra("team") == "uv tool install 'agent-memfs[team]'"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("uv-receipt.toml", 'requirements = [{ name = "agent-memfs", extras = ["pdf", "agent"] }]'),
        ("pipx_metadata.json", '{"package_or_url": "agent-memfs[pdf,agent]"}'),
    ],
)
def test_the_extras_that_are_installed_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    (tmp_path / name).write_text(text)
    assert parts.name_extra("team").endswith(" 'agent-memfs[agent,pdf,team]'")
