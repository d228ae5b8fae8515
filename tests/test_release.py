"""What a release says of itself is the same in every file, and builds are the same in every byte."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

import memfs
from memfs.core.parts import DISTRIBUTION
from memfs.ipc import client
from memfs.store.blocks import Place
from tests.docs.walkthroughs import ELSEWHERE

ROOT = Path(memfs.__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
HOME = PROJECT["urls"]["Homepage"]
READ = [  # what people read, and what runs an installation
    *(ROOT / name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md", "pyproject.toml")),
    *ROOT.glob("*.json"),
    *(
        path
        for folder in ("docs", ".github", ".claude-plugin")
        for path in ROOT.glob(f"{folder}/**/*.*")
    ),
    *(path for folder in ("memfs", "hooks", "templates") for path in ROOT.glob(f"{folder}/**/*")),
]
TEXTS = {
    path: path.read_text(encoding="utf-8")
    for path in READ
    if path.is_file() and path.suffix not in {".pyc", ".png", ".safetensors"}
}


def test_the_version_is_one() -> None:
    """That of the packages for assistants is as well: `tests/hosts/test_packages.py`."""
    newest = re.findall(r"^## \[(\d.*?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[0]
    assert client.VERSION == memfs.__version__ == newest


def test_the_name_of_the_distribution_is_one() -> None:
    assert PROJECT["name"] == DISTRIBUTION
    assert DISTRIBUTION in PROJECT["scripts"], "`uvx NAME` runs a program of that name"
    installed = re.compile(
        r"(?:pipx? install|uv tool install|uvx|pip install)(?: -\S+)* '?(memfs\b)|[^-\w/](memfs\[\w+\])"
    )
    assert not [path for path, text in TEXTS.items() if installed.search(text)]


def test_the_address_of_the_repository_is_one() -> None:
    owner, name = HOME.removeprefix("https://github.com/").split("/")
    ours = re.compile(rf"github(?:usercontent)?\.com/([\w-]*memfs[\w-]*/[\w-]+|[\w-]+/{name}\b)")
    found = {each for text in TEXTS.values() for each in ours.findall(text)}
    assert found == {f"{owner}/{name}"}
    # The marker that the registry of MCP looks for on the page of the package.
    assert f"<!-- mcp-name: io.github.{owner}/{name} -->" in (ROOT / "README.md").read_text("utf-8")


def yaml(text: str) -> Any:
    return YAML(typ="safe").load(text)


def test_a_workflow_can_check_the_memory_as_the_page_says(repo: Path, place: Place) -> None:
    text = (ROOT / "docs/check.md").read_text("utf-8")
    workflow, hooks = (yaml(each) for each in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL))
    action = yaml((ROOT / "action.yml").read_text("utf-8"))
    used = workflow["steps"][1]
    assert used["uses"].rpartition("@")[0] == HOME.removeprefix("https://github.com/")
    assert set(used["with"]) <= set(action["inputs"])
    (listed,) = hooks["repos"]
    known = yaml((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert [each["id"] for each in listed["hooks"]] == [each["id"] for each in known]
    (step,) = action["runs"]["steps"]
    script = step["run"].partition("agent-memfs\n")[2].partition("\n")[2]  # with memfs installed
    env = {**os.environ, "BASE": "", "FILES": "AGENTS.md NOTES.md"}
    for line, code in (("It is small.", 0), ("See `gone.py`.", 1)):
        (repo / "AGENTS.md").write_text(line)
        (repo / "NOTES.md").write_text("None.")
        (repo / "gone.py").write_text("x = 1")
        for words in ("add -A", f"commit -qm {code}", "rm -q gone.py", f"commit -qm gone{code}"):
            who = ("-c", "user.name=A", "-c", "user.email=a@b.example")
            subprocess.run(["git", *who, *words.split()], cwd=repo, check=True)
        command = ["bash", "-c", script]
        done = subprocess.run(command, cwd=repo, env=env, check=False, capture_output=True)
        assert done.returncode == code, done


def test_links_between_documents_lead_somewhere() -> None:
    for path, text in TEXTS.items():
        links = re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", text) if path.suffix == ".md" else []
        assert not [link for link in links if not (path.parent / link).exists()], path


def build(copy: Path, out: Path) -> dict[str, str]:
    """Build in a copy of the sources, and return what came out with its digests."""
    kept = shutil.ignore_patterns(".venv", ".git", ".ci", "__pycache__", ".*_cache", ".hypothesis")
    shutil.copytree(ROOT, copy, ignore=kept)
    words = [sys.executable, "-m", "hatchling", "build", "-d", str(out)]
    subprocess.run(words, cwd=copy, check=True, capture_output=True)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in out.iterdir()}


@pytest.mark.thorough
def test_a_build_is_the_same_in_every_byte_and_says_what_it_brings_along(tmp_path: Path) -> None:
    first = build(tmp_path / "one", tmp_path / "first")
    assert len(first) == 2
    assert first == build(tmp_path / "a/longer path", tmp_path / "second")
    with zipfile.ZipFile(next((tmp_path / "first").glob("*.whl"))) as wheel:
        [name] = [each for each in wheel.namelist() if "/sboms/" in each]
        document = json.loads(wheel.read(name))
        page = wheel.read(name.partition("/")[0] + "/METADATA").decode()
    [model] = document["components"]
    assert model["licenses"] == [{"license": {"id": "MIT"}}]
    for file in model["components"]:
        digest = hashlib.sha256((ROOT / file["name"]).read_bytes()).hexdigest()
        assert file["hashes"] == [{"alg": "SHA-256", "content": digest}]
    assert not re.findall(r"\]\((?!\w+:|#)", page), "links on the index page lead to the repository"


def test_what_the_documentation_says_is_run_elsewhere_is_there() -> None:
    assert [each for each in ELSEWHERE.values() if not (ROOT / each).exists()] == []
