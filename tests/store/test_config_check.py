"""Unknown keys and bad values are named, in files and in variables."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import memfs
from memfs.core import settings
from memfs.store import config_file, store_paths
from memfs.store.blocks import Place


def problems(place: Place, text: str) -> list[str]:
    """Return the problems of the user's configuration, each without the path of the file."""
    assert place.user
    path = Path(place.user.root, "config.yaml")
    path.write_text(f"memfs: 1\n{text}")
    return [each.removeprefix(f"{path}:") for each in config_file.find_problems(place.user)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "context: {max_tokenz: 1}\n",
            "2: unknown key 'context.max_tokenz'; did you mean max_tokens?",
        ),
        ("hooks:\n  recal: 3\n", "3: unknown key 'hooks.recal'; did you mean recall?"),
        (
            "memgpt:\n  context: {max_tokens: 9000}\n  llm: {model: m}\n",
            "2: 'memgpt' is not used: write context, llm at the beginning of a line, without it",
        ),
        ("llm:\n  # all mine\n  zzz: 1\n", "4: unknown key 'llm.zzz'"),
        ("blocks:\n  rules: {limits: 9}\n", "3: unknown key 'blocks.rules.limits'; did you mean limit?"),
        ("blocks:\n  rules:\n    limit: 0\n", "4: blocks.rules.limit is 0, expected 1 or more"),
        ("blocks:\n  rules: 5\n", "3: blocks.rules is 5, expected a mapping"),
        ("paging: {warn_threshold: 7}\n", "2: paging.warn_threshold is 7, expected a number between 0 and 1"),
        ("sources: 5\n", "2: sources is 5, expected a mapping"),
        ("sources:\n  docs:\n    paths: [/x]\n    globs: [a]\n", "5: unknown key 'sources.docs.globs'; did you mean glob?"),
        ("sources:\n  docs:\n    paths: 5\n", "3: sources.docs is not used: its paths is no list of texts"),
        ("git: often\n", "2: git is 'often', expected a mapping"),
        ("enabled: 'true'\n", "2: enabled is 'true', expected true, false or off"),
        ("hooks: {recall: [1]}\n", "2: hooks.recall is [1], expected off, auto or 3"),
        ("trust: {pulled: off}\n", "2: trust.pulled is 'off', expected name or hold"),
        ("max_blocks: 0\n", "2: max_blocks is 0, expected 1 or more"),
    ],
)  # fmt: skip
def test_a_key_or_value_that_is_wrong_is_named(place: Place, text: str, said: str) -> None:
    assert problems(place, text) == [said]


def test_every_setting_is_known(place: Place) -> None:
    """The defaults, written into a file, are right."""
    text = ""
    for key, value in settings.DEFAULTS.items():
        if isinstance(value, dict):
            inner = "".join(f"  {name}: {each!r}\n" for name, each in value.items())
            text += f"{key}:\n{inner}" if inner else f"{key}: {{}}\n"
        else:
            text += f"{key}: {value}\n"
    assert problems(place, text) == []


def test_variables_that_are_wrong_are_named() -> None:
    own = f"{store_paths.user_root()}/config.yaml"
    found = config_file.find_variable_problems(
        {
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
    )
    project = "is not used: a project can set variables, so only your own configuration"
    assert found == [
        f"MEMFS_EMBEDDING {project} ({own}) may say embedding: a/b",
        "MEMFS_GIT_COMMIT: git.commit is 'often', expected off, edit or session",
        "MEMFS_HOKS_RECALL: memfs knows no such variable; did you mean MEMFS_HOOKS_RECALL?",
        f"MEMFS_LLM_COMMAND {project} ({own}) may say llm.command: evil",
        "MEMFS_MAX_BLOCKS: max_blocks is 'many', expected a whole number",
        "MEMFS_TOOLS_REMOVE: no variable can contain a list: write tools.remove into config.yaml",
    ]


def test_every_variable_that_the_package_reads_is_known() -> None:
    sources = Path(memfs.__file__).parent.rglob("*.py")
    read = {
        name
        for path in sources
        for name in re.findall(r"""["'](MEMFS_[A-Z_]+[A-Z])["']""", path.read_text("utf-8"))
    }
    assert read >= set(settings.VARIABLES)
    known = config_file.find_variable_problems(dict.fromkeys(read, ""))
    assert not [text for text in known if "no such variable" in text]
