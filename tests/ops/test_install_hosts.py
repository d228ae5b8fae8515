"""What install writes for each host, and what uninstall leaves."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from memfs import hosts
from memfs.core.errors import StoreError
from memfs.hosts import settings_merge
from memfs.ops import install
from memfs.store.blocks import Place

TOML = '# mine\nmodel = "gpt-5.4"   # spaced\n\n[mcp_servers.other]\ncommand = "x"\n'


def run(place: Place, host: str, **options: Any) -> list[Path]:
    done = install.run(place, host, "project", str(Path.home()), **options)
    return [Path(each.path) for each in done]


def test_codex_is_wired_in_its_toml_without_a_change_to_what_is_there(
    place: Place, repo: Path
) -> None:
    config = repo / ".codex/config.toml"
    config.parent.mkdir()
    config.write_text(TOML)
    assert run(place, "codex") == [repo / ".codex/hooks.json", config]
    assert config.read_text().startswith(TOML)
    found = tomllib.loads(config.read_text())["mcp_servers"]
    assert found["other"] == {"command": "x"}
    wanted = {"command": "memfs", "args": ["mcp"], "default_tools_approval_mode": "approve"}
    assert found["memfs"] == wanted
    written = config.read_text()
    run(place, "codex")
    assert config.read_text() == written
    later = '\n[hooks.state."x"]\ntrusted_hash = "sha256:1"\n'
    config.write_text(written + later)  # as Codex does, before a comment that ends the file
    run(place, "codex")
    assert config.read_text() == written + later
    run(place, "codex", tools=False)
    run(place, "codex", remove=True)
    assert config.read_text() == TOML + later
    assert not (repo / ".codex/hooks.json").exists()


def test_gemini_and_copilot_are_wired(place: Place, repo: Path) -> None:
    assert run(place, "gemini") == [repo / ".gemini/settings.json"]
    found = json.loads((repo / ".gemini/settings.json").read_text())
    assert found["mcpServers"]["memfs"]["trust"] is True
    assert found["hooks"]["BeforeAgent"][0]["hooks"][0]["timeout"] == 10_000
    assert run(place, "copilot") == [repo / ".github/hooks/memfs.json", repo / ".mcp.json"]
    assert json.loads((repo / ".github/hooks/memfs.json").read_text())["version"] == 1
    for host in ("gemini", "copilot"):
        run(place, host, remove=True)
    assert sorted(path.name for path in repo.iterdir()) == [".agent-memory", ".git"]


def test_a_file_that_wires_two_hosts_is_kept_until_the_last_goes(place: Place, repo: Path) -> None:
    run(place, "claude")
    run(place, "copilot")
    run(place, "copilot", tools=False)
    assert "memfs" in (repo / ".mcp.json").read_text(), "Claude Code's tools stay"
    run(place, "copilot", remove=True)
    assert "memfs" in (repo / ".mcp.json").read_text()
    run(place, "claude", remove=True)
    assert not (repo / ".mcp.json").exists()


def test_a_host_without_settings_of_ones_own_in_a_project_says_so(place: Place) -> None:
    with pytest.raises(
        StoreError, match="Codex does not support personal settings for one project"
    ):
        install.run(place, "codex", "local", str(Path.home()))


def test_what_a_user_added_to_our_server_stays(place: Place, repo: Path) -> None:
    run(place, "claude")
    tools = repo / ".mcp.json"
    found = json.loads(tools.read_text())
    found["mcpServers"]["memfs"]["env"] = {"MEMFS_HOME": "/d"}
    tools.write_text(json.dumps(found))
    run(place, "claude")
    assert json.loads(tools.read_text()) == found
    run(place, "codex")
    config = repo / ".codex/config.toml"
    more = "startup_timeout_sec = 9\n[mcp_servers.memfs.env]\nA = 1\n"
    config.write_text(config.read_text() + more)
    run(place, "codex")
    server = tomllib.loads(config.read_text())["mcp_servers"]["memfs"]
    assert server.items() >= {"startup_timeout_sec": 9, "env": {"A": 1}}.items()


def test_a_linked_settings_folder_is_not_removed(place: Place, repo: Path) -> None:
    (repo / "dot").mkdir()
    (repo / ".claude").symlink_to("dot")
    run(place, "claude")
    run(place, "claude", remove=True)
    assert (repo / ".claude").is_symlink()
    assert list((repo / "dot").iterdir()) == []
    assert not (repo / ".mcp.json").exists()


@pytest.mark.parametrize("host", sorted(hosts.NAMES))
def test_links_out_of_the_project_are_not_written_through(
    place: Place, repo: Path, tmp_path: Path, host: str
) -> None:
    (tmp_path / "out").mkdir()
    for path, _ in hosts.get(host).wiring("project", str(Path.home()), str(repo)):
        name = Path(path).relative_to(repo)
        link = repo / (name.parts[0] if len(name.parts) > 1 else name)
        for target in (tmp_path / "out", tmp_path / "out/not-there"):
            link.symlink_to(target)
            with pytest.raises(StoreError, match="outside of the project"):
                run(place, host)
            link.unlink()
            assert list((tmp_path / "out").iterdir()) == []


def test_opencode_is_wired_by_a_plugin_that_is_ours_and_its_settings(
    place: Place, repo: Path
) -> None:
    plugin, settings = repo / ".opencode/plugins/memfs.js", repo / "opencode.json"
    assert run(place, "opencode") == [plugin, settings]
    wanted = {"type": "local", "command": ["memfs", "mcp"], "enabled": True}
    assert json.loads(settings.read_text())["mcp"]["memfs"] == wanted
    command = settings_merge.list_words(plugin.read_text())
    assert command == ["memfs", "hook", "opencode", "mcp"]
    said = {"hook_event_name": "SessionStart", "host": "opencode", "session_id": "s"}
    data = json.dumps({**said, "cwd": str(repo)}).encode()
    done = subprocess.run(command, input=data, capture_output=True, check=True)
    assert "Memory tools: core_memory_append, " in done.stdout.decode()
    assert run(place, "opencode", tools=False) == [plugin, settings]
    assert settings_merge.list_words(plugin.read_text())[-1] == "opencode"
    assert "memfs" not in settings.read_text()
    run(place, "opencode")
    run(place, "opencode", remove=True)
    assert sorted(path.name for path in repo.iterdir()) == [".agent-memory", ".git"]


def test_opencode_gets_back_what_it_had_and_keeps_what_it_adds(place: Place, home: Path) -> None:
    settings = home / ".config/opencode/opencode.jsonc"
    settings.parent.mkdir(parents=True)
    before = '{\n  "$schema": "./mine.json", // mine\n  "mcp": {"other": {"type": "remote"}}\n}\n'
    settings.write_text(before)
    done = install.run(place, "opencode", "user", str(home))
    plugin = f"{home}/.config/opencode/plugins/memfs.js"
    assert [each.path for each in done] == [plugin, str(settings)]
    assert '"./mine.json", // mine' in settings.read_text()
    assert f'"{sys.executable}",' in settings.read_text()
    words = settings_merge.list_words(Path(done[0].path).read_text())
    assert words[:4] == [sys.executable, "-I", "-S", "-E"]
    assert words[-2:] == ["opencode", "mcp"]
    (settings.parent / "opencode.json").write_text("{}")  # ours stays where it is
    assert install.run(place, "opencode", "user", str(home))[1].outcome == "unchanged"
    install.run(place, "opencode", "user", str(home), remove=True)
    assert settings.read_text() == before
    assert not (settings.parent / "plugins").exists()


def test_a_plugin_of_our_name_that_somebody_else_wrote_is_left_alone(
    place: Place, repo: Path
) -> None:
    plugin = repo / ".opencode/plugins/memfs.js"
    plugin.parent.mkdir(parents=True)
    plugin.write_text('export const X = async () => ({ "memfs": 1 })\n')
    with pytest.raises(StoreError, match=r"memfs\.js was not created by memfs"):
        run(place, "opencode")
    assert not (repo / "opencode.json").exists()
    run(place, "opencode", remove=True)
    assert plugin.read_text().startswith("export const X")


def test_a_plugin_of_another_version_is_replaced_and_removed(place: Place, repo: Path) -> None:
    plugin = repo / ".opencode/plugins/memfs.js"
    plugin.parent.mkdir(parents=True)
    plugin.write_text("// memfs: an older one\n")
    assert install.run(place, "opencode", "project", str(Path.home()))[0].outcome == "updated"
    plugin.write_text("// memfs: an older one\n")
    run(place, "opencode", remove=True)
    assert not plugin.parent.exists()
