"""The packages for assistants and registries: current, and valid by what each publishes of its form."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import jsonschema_rs
import pytest

from memfs.core import frontmatter
from tests.hosts import packages
from tests.hosts.assistants import GEMINI
from tests.hosts.installed import SKILLS
from tests.hosts.packages import PLUGIN, ROOT
from tests.hosts.project import Project
from tests.hosts.script import Json, objects
from tests.hosts.scripted_model import ScriptedModel

SCHEMAS = Path(__file__).parent / "schemas"
# What cursor.com/docs/plugins/building and cursor/plugins (schemas/plugin.schema.json) name.
CURSOR = {
    *("name", "displayName", "description", "version", "author", "publisher", "homepage"),
    *("repository", "license", "logo", "keywords", "category", "tags", "commands", "agents"),
    *("skills", "rules", "hooks", "variables", "mcpServers"),
}


def load(path: str) -> Json:
    found: Json = json.loads((ROOT / path).read_text(encoding="utf-8"))
    return found


def test_what_is_made_is_current() -> None:
    stale = [
        path for path, text in packages.make().items() if (ROOT / path).read_text("utf-8") != text
    ]
    assert not stale, "python -m tests.hosts.packages"


@pytest.mark.parametrize(
    ("path", "schema"),
    [
        ("plugin.json", "plugin.schema.json"),
        ("mcp.json", "mcp.schema.json"),
        ("server.json", "server.schema.json"),
    ],
)
def test_files_are_valid_by_the_published_schema(path: str, schema: str) -> None:
    known = json.loads((SCHEMAS / schema).read_text())
    assert load(path)["$schema"] == known["$id"]
    jsonschema_rs.validate(known, load(path))
    with pytest.raises(jsonschema_rs.ValidationError):
        jsonschema_rs.validate(known, {**load(path), "version": 5, "mcpServers": 5})


def test_cursors_plugin_has_known_keys_and_names_what_is_there() -> None:
    found = load(f"{PLUGIN}/.cursor-plugin/plugin.json")
    assert set(found) <= CURSOR
    assert all((ROOT / PLUGIN / str(found[key])).exists() for key in ("skills", "hooks"))
    [listed] = objects(load(".cursor-plugin/marketplace.json")["plugins"])
    assert listed["name"] == found["name"]
    assert (ROOT / str(listed["source"])).samefile(ROOT / PLUGIN)


def test_every_hook_of_a_package_starts_its_launcher() -> None:
    """A package is the folder that its variable names: of Agent Plugins and Gemini CLI, all of it."""
    for path, variable, root in (
        ("com.github.copilot/hooks/hooks.json", "PLUGIN_ROOT", ROOT),
        (f"{PLUGIN}/hooks/hooks.json", "CLAUDE_PLUGIN_ROOT", ROOT / PLUGIN),
        (f"{PLUGIN}/com.cursor/hooks.json", "CURSOR_PLUGIN_ROOT", ROOT / PLUGIN),
        ("hooks/hooks.json", "extensionPath", ROOT),
    ):
        text = (ROOT / path).read_text(encoding="utf-8")
        started = set(
            re.findall(r'"command": "sh \\"\$\{(\w+)\}/([\w/]+)\\" (?:auto mcp|gemini)"', text)
        )
        assert text.count('"command": ') >= len(started) == 1
        [(name, launcher)] = started
        assert (name, (root / launcher).is_file()) == (variable, True)


def test_the_skill_is_as_agentskills_io_has_it() -> None:
    [folder] = (ROOT / "skills").iterdir()
    text = (folder / "SKILL.md").read_text(encoding="utf-8")
    keys = frontmatter.read(frontmatter.strip_fences(frontmatter.split(text)[0]))
    assert keys
    assert keys["name"] == folder.name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", folder.name)
    assert 0 < len(str(keys["description"])) <= 1024
    assert len(str(keys["compatibility"])) <= 500
    assert set(keys) <= {"name", "description", "license", "compatibility", "metadata"}


@pytest.mark.host
def test_gemini_cli_finds_the_extension_valid(tmp_path: Path) -> None:
    project = Project(tmp_path)
    with ScriptedModel([]) as model, GEMINI.start(project, model) as gemini:
        gemini.command("extensions", "validate", str(ROOT))


@pytest.mark.host
def test_the_skills_program_finds_the_skill(tmp_path: Path) -> None:
    node = shutil.which("node") or "node"
    done = subprocess.run(
        [
            node,
            str(SKILLS.require()),
            "add",
            str(ROOT),
            "--skill",
            "memory",
            "--agent",
            "codex",
            "--yes",
        ],
        cwd=tmp_path,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(tmp_path), "DO_NOT_TRACK": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert b"memory" in done.stdout
    [found] = tmp_path.glob("**/memory/SKILL.md")
    assert found.read_bytes() == (ROOT / "skills/memory/SKILL.md").read_bytes()
