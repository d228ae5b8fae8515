"""`memfs uninstall`, of all assistants at once, and of everything."""

import subprocess
from pathlib import Path

import pytest

from memfs import hosts
from memfs.store.blocks import Place
from tests.cli.conftest import Run
from tests.forked import MEMFS
from tests.terminal import type_into


@pytest.mark.usefixtures("place")
def test_a_dry_run_shows_what_then_happens_also_to_a_file_that_two_share(
    memfs: Run, repo: Path
) -> None:
    memfs("install", *hosts.NAMES, "--project")
    shared = repo / ".mcp.json"
    shown = memfs("uninstall", "--dry-run")
    assert f"Copilot CLI: {shared} would be removed" in shown.err
    assert f"--- {shared}" in shown.out
    assert shared.exists()
    assert str(shared) not in memfs("uninstall", "claude", "--dry-run").err, "Copilot's stay"
    would = [line.replace(" would be ", " ") for line in shown.err.splitlines()]
    assert memfs("uninstall").err.splitlines() == [f"✓ {line}" for line in would]
    assert sorted(path.name for path in repo.iterdir()) == [".agent-memory", ".git"]


def test_of_two_that_are_named_both_go(memfs: Run, place: Place, repo: Path) -> None:
    memfs("install", "claude", "copilot", "--project")
    shown = memfs("uninstall", "copilot", "claude", "--dry-run").err
    assert f"Claude Code: {repo}/.mcp.json would be removed" in shown


OTHERS = {  # of other programs and people: byte for byte as they were, at the end
    "home/.claude/settings.json": '{\r\n\t"model" : "opus"\r\n}\r\n',
    "home/.claude.json": '{"numStartups":3}',
    "home/.codex/config.toml": "# mine\nmodel = 'o'\n\n[mcp_servers.x]\ncommand = 'x'",
    "home/.gitconfig": "[user]\n\tname = me\n\temail = me@x\n",
    "repo/AGENTS.md": "# Mine\n\nUse tabs.",
    "repo/.git/hooks/pre-commit": "#!/bin/sh\necho mine\n",
}


def _read_all(folder: Path) -> dict[str, bytes]:
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def _set_up(memfs: Run, folder: Path) -> dict[str, bytes]:
    """Set up all that memfs can, among files of others; return these as they were."""
    for name, text in OTHERS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    (folder / "repo/.git/hooks/pre-commit").chmod(0o755)
    subprocess.run(["git", "config", "user.x", "y"], cwd=folder / "repo", check=True)
    before = _read_all(folder)
    for words in ("init", "install --user claude codex gemini", "install cursor --project"):
        assert memfs(*words.split()).code == 0
    assert memfs("sync", "agents").code == memfs("sync", "--git-hook").code == 0
    return before


def test_everything_leaves_what_others_have_byte_for_byte(
    memfs: Run, repo: Path, home: Path, tmp_path: Path
) -> None:
    """The preview writes nothing, `--yes` leaves the memory, and `--memory` takes it, too."""
    before, everything = _set_up(memfs, tmp_path), ("uninstall", "--everything")
    wired = _read_all(tmp_path)
    assert before.items() - wired.items()
    shown = memfs(*everything, "--dry-run").err
    refused = memfs(*everything, "--memory")
    assert (refused.code, "hint: add --yes" in refused.err) == (2, True)
    assert _read_all(tmp_path).items() >= {name: wired[name] for name in before}.items()
    done = memfs(*everything, "--yes").err
    removed = [line[10:] for line in done.splitlines() if line.startswith("✓ removed ")]
    assert [line[2:] for line in shown.splitlines()[1 : len(removed) + 1]] == removed
    left = _read_all(tmp_path)
    assert {name: data for name, data in left.items() if ".agent-memory/" not in name} == before
    assert {"home/.agent-memory/blocks/human.md", "repo/.agent-memory/local/journal.jsonl"} <= {
        *left
    }
    (repo / ".agent-memory/notes.txt").write_text("mine")
    assert (
        f"{repo}/.agent-memory/notes.txt was not created by memfs on"
        in memfs(*everything, "-y").err
    )
    assert memfs(*everything, "--memory", "--yes").code == 0
    assert _read_all(tmp_path) == before | {"repo/.agent-memory/notes.txt": b"mine"}
    assert not (home / ".agent-memory").exists()


def test_everything_leaves_and_names_what_is_committed(
    memfs: Run, repo: Path, home: Path, tmp_path: Path
) -> None:
    _set_up(memfs, tmp_path)
    for words in ("add -A -f AGENTS.md .cursor .agent-memory/blocks", "commit -qm all --no-verify"):
        subprocess.run(["git", *words.split()], cwd=repo, check=True)
    (home / ".gemini/settings.json").write_text("{memfs")
    committed = {name: data for name, data in _read_all(repo).items() if ".git/" not in name}
    done = memfs("uninstall", "--everything", "--memory", "--yes").err
    for named in (
        f"{repo}/.cursor/mcp.json (committed",
        "to remove it for everyone: memfs uninstall cursor --project",
        f"the memfs section in {repo}/AGENTS.md (committed",
        "to remove it for everyone: memfs sync agents --remove",
        f"{repo}/.agent-memory is committed",
        f"{home}/.gemini/settings.json",
    ):
        assert named in done, named
    left = {name: data for name, data in _read_all(repo).items() if ".git/" not in name}
    assert left == {name: data for name, data in committed.items() if "/local/" not in name}
    assert not (home / ".agent-memory").exists()


@pytest.mark.parametrize(("typed", "gone"), [("n\n", ""), ("y\nn\n", "wired"), ("y\ny\n", "all")])
def test_a_person_is_asked_about_the_memory_apart(
    memfs: Run, repo: Path, tmp_path: Path, typed: str, gone: str
) -> None:
    _set_up(memfs, tmp_path)
    code, screen = type_into([*MEMFS, "uninstall", "--everything"], typed, repo)
    assert code == (0 if gone else 130), screen
    assert ("memfs" in (repo / "AGENTS.md").read_text()) is not bool(gone)
    assert (repo / ".agent-memory").exists() is (gone != "all")


def test_an_assistant_removes_no_memory(
    memfs: Run, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    refused = memfs("uninstall", "--everything", "--memory", "--yes")
    assert (refused.code, "only a person can remove" in refused.err) == (1, True)
    assert Path(place.home.root, "config.yaml").exists()
