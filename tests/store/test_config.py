from __future__ import annotations

from pathlib import Path

import pytest

from memfs.store import config
from memfs.store.blocks import Place


def write(place: Place, text: str) -> str:
    assert place.project
    path = Path(place.project.root, "config.yaml")
    path.write_text(text)
    return str(path)


def test_defaults_project_user_and_variables(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    assert config.load(place).get("hooks.recall") == "auto"
    assert place.user
    Path(place.user.root, "config.yaml").write_text("memfs: 1\nhooks:\n  recall: 2\n")
    assert config.load(place).get("hooks.recall") == 2
    write(place, "memfs: 1\nhooks:\n  recall: off\n")
    assert config.load(place).get("hooks.recall") == "off"
    monkeypatch.setenv("MEMFS_HOOKS_RECALL", "1")
    assert config.load(place).get("hooks.recall") == 1


def test_a_wrong_type_gives_the_default_and_is_named(place: Place) -> None:
    path = write(place, "memfs: 1\nmax_blocks: many\n")
    assert config.load(place).number("max_blocks") == 10
    assert config.problems(path) == [f"{path}:2: max_blocks is 'many', expected a whole number"]


def test_an_unknown_key_is_named_with_the_likely_one(place: Place) -> None:
    path = write(place, "memfs: 1\nhoks:\n  recall: off\n")
    assert config.problems(path) == [f"{path}:2: unknown key 'hoks'; did you mean hooks?"]


def test_broken_yaml_is_named_and_gives_defaults(place: Place) -> None:
    path = write(place, "memfs: 1\nhooks: [unclosed\n")
    assert config.load(place).get("hooks.recall") == "auto"
    [problem] = config.problems(path)
    assert problem.startswith(f"{path}: ")
