"""Settings files that nobody thought of: in and out again, nothing of theirs is lost or moved."""

import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memfs.core.errors import StoreError
from memfs.hosts import jsonc_edit, toml_edit
from memfs.ops import init
from memfs.ops.install.files import SettingsEdit, ShippedEntries
from memfs.store.blocks import Place
from tests.hosts.test_jsonc_edit import VALUE, written
from tests.hosts.test_settings_files import only_added

SHIPPED = {
    "claude": ("claude/hooks.json", "claude/allow.json", "claude/line.json", "claude/approve.json"),
    "gemini": ("gemini/hooks.json", "gemini/tools.json"),
    "copilot": ("copilot/hooks.json",),
    "opencode": ("opencode/tools.json",),
    "cursor": ("cursor/hooks.json",),
}
COMMENTS = ("// a comment", "/* another, {\n */")
EVENTS = st.sampled_from(["SessionStart", "Stop", "stop", "BeforeAgent", "Other"])
COMMAND = st.sampled_from(["x", "y z", "memfs_hook", "hook.py claude", ""])
ENTRY = st.fixed_dictionaries({"command": COMMAND}, optional={"timeout": VALUE})
ODD = ENTRY | VALUE | st.fixed_dictionaries({"command": VALUE})
GROUP = ODD | st.fixed_dictionaries(
    {"hooks": st.lists(ODD, max_size=2) | VALUE}, optional={"matcher": st.just("m")}
)
NAMES = st.lists(st.sampled_from(["a", "mcp__a", "b"]), max_size=3)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "a": VALUE,
        "hooks": st.dictionaries(EVENTS, st.lists(GROUP, max_size=2), max_size=3),
        "permissions": st.fixed_dictionaries({}, optional={"allow": NAMES, "deny": NAMES}),
        "mcpServers": st.dictionaries(st.sampled_from("xy"), ENTRY, max_size=2),
        "mcp": st.dictionaries(st.sampled_from("xy"), ENTRY, max_size=2),
        "enabledMcpjsonServers": NAMES,
        "version": st.sampled_from([1, 1, 2]),
        "$schema": st.sampled_from(["https://opencode.ai/config.json", "./mine.json"]),
        "z": VALUE,
    },
).flatmap(lambda found: st.permutations(list(found.items())).map(dict))
JSONC = SETTINGS.flatmap(lambda value: st.tuples(st.just(value), written(value)))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return init.make_separate_place(str(tmp_path_factory.mktemp("apart")), "")


class File:
    """A settings file, and our entries in it."""

    def __init__(self, place: Place, name: str, text: str, shipped: tuple[str, ...]) -> None:
        self._place = place
        self._path = Path(place.home.top, name)
        host = shipped[0].partition("/")[0]
        self._given = ShippedEntries.load(place, host, shipped, tools=True, line=True, shared=False)
        self._path.unlink(missing_ok=True)
        self.write(text)

    def write(self, text: str) -> None:
        self._path.write_bytes(text.encode("utf-8", "surrogatepass"))

    def run(self, *, remove: bool = False) -> str:
        """Put ours in or take them out; return what is there then."""
        edit = SettingsEdit.plan(self._place, "", str(self._path), self._given, remove=remove)
        edit.write(self._place)
        return self._path.read_bytes().decode() if self._path.exists() else ""


@given(JSONC, st.sampled_from(sorted(SHIPPED)))
def test_any_jsonc(place: Place, found: tuple[dict[str, object], str], host: str) -> None:
    value, text = found
    file = File(place, "settings.json", text, SHIPPED[host])
    if value.get("version") == 2 and host in ("copilot", "cursor"):
        with pytest.raises(StoreError, match="in the settings, version is 2, not 1"):
            file.run()
        return
    after = file.run()
    with_ours = jsonc_edit.loads(after)
    only_added(value, with_ours)
    assert file.run() == after
    for comment in COMMENTS:
        assert after.count(comment) == text.count(comment)
    assert file.run(remove=True) == text
    file.run()
    file.write(after + "\n// later\n")
    left = file.run(remove=True)
    assert json.dumps(jsonc_edit.loads(left)) == json.dumps(value)
    for comment in COMMENTS:
        assert left.count(comment) == text.count(comment)
    assert left.endswith("\n// later\n")
    file.write(text)
    file.run()
    file.write(json.dumps(with_ours, indent=3))
    assert json.dumps(json.loads(file.run(remove=True))) == json.dumps(value)


ROOT = [
    "a = 1",
    "",
    "# a comment",
    "# [mcp_servers.memfs]",
    'b = """\n[t]\n"""',
    "c = '''\n" + toml_edit.MARK + "\n'''",
    'd = [\n  ["x"],\n  [1, # [y]\n  ],\n]',
    'e.f = "#"',
    "g = {h = [{i = 1}]}",
    '"odd key" = "]"',
    "k = 1979-05-27",
]
TABLES = [
    "[t]\nb = 2",
    '[u."x [y]"]\nc = """\n[no table]\n"""',
    "[[v]]\nd = 3",
    "[mcp_servers]",
    "[ w ] # spaced",
    '[mcp_servers.other]\nargs = [\n  "[z]",\n]',
    "[mcp_servers.other.env]\nA = 1",
    "  [x]\n  y = 1",
]
ADDED = st.lists(
    st.sampled_from(
        [
            "wait = 9",
            "# mine",
            "",
            'odd = [\n  ["y"],\n  "[z]",\n]',
            'long = """\n[mcp_servers.x]\n"""',
            "lit = '''\n[q]\n'''",
            "one = {A = '[b]'}",
        ]
    ),
    max_size=3,
    unique=True,
)
LATER = st.lists(
    st.sampled_from(["[later]\nx = 1", "# at the end", "", "[[more]]\ny = '['"]),
    max_size=3,
    unique=True,
)


@st.composite
def toml(draw: st.DrawFn) -> str:
    parts = draw(st.lists(st.sampled_from(ROOT), max_size=5, unique=True))
    parts += draw(st.lists(st.sampled_from(TABLES), max_size=4, unique=True))
    text = "\n".join(parts) + draw(st.sampled_from(["", "\n", "\n\n\n"]))
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return draw(st.sampled_from(["", "", "\ufeff"])) + text


def loads(text: str) -> dict[str, object]:
    return tomllib.loads(text.removeprefix("\ufeff"))


@given(toml(), ADDED, st.sampled_from(["", "[mcp_servers.memfs.env]\nK = 'v'"]), LATER)
def test_any_toml(place: Place, text: str, added: list[str], below: str, later: list[str]) -> None:
    try:
        value = loads(text)
    except ValueError:
        assume(False)
    file = File(place, "config.toml", text, ("codex/tools.toml",))
    after = file.run()
    assert after.startswith(text)
    only_added(value, loads(after))
    assert file.run() == after
    assert file.run(remove=True) == text
    file.run()
    mine = "\n".join([*added, below])
    more = "\n".join(["", *later])
    file.write(after + mine + more)
    whole = loads(after + mine + more)
    assert loads(file.run()) == whole
    left = file.run(remove=True)
    assert loads(left) == {**value, **loads(more)}
    assert left.startswith(text)
    assert left.rstrip().endswith(more.strip())


TABLE = '[servers.ours]\ncommand = "x"\nargs = ["[y]"]\n'


def test_what_its_user_added_to_our_table_stays_when_it_is_replaced() -> None:
    added = "wait = 9\n[servers.ours.env]\nA = 'b'\n"
    after = toml_edit.put_table(
        toml_edit.put_table("", TABLE) + added + "\n[other]\n", TABLE.replace('"x"', '"z"')
    )
    ours = {"command": "z", "args": ["[y]"], "wait": 9, "env": {"A": "b"}}
    assert tomllib.loads(after) == {"servers": {"ours": ours}, "other": {}}
    assert tomllib.loads(toml_edit.remove_table(after, TABLE)) == {"other": {}}


@pytest.mark.parametrize("text", [TABLE, f"{toml_edit.MARK}\n\n{TABLE}", f"# mine\n{TABLE}"])
def test_a_table_without_our_mark_is_not_ours(text: str) -> None:
    assert not toml_edit.has_table(text, TABLE)
    assert toml_edit.remove_table(text, TABLE) == text


def test_values_over_lines_and_tables_below_ours_are_what_they_are() -> None:
    """Of ours, one is written over lines; keys of a table below it are named like ours."""
    mine = TABLE.replace('["[y]"]', '[\n  "[old]",\n  "command = 2",\n]')
    added = 'long = """\ncommand = \'no key\'\n[no.table]\n"""\n[servers.ours.env]\nargs = 1\n'
    text = toml_edit.put_table("a = 1\n", mine) + added
    after = toml_edit.put_table(text, TABLE)
    ours = {
        "command": "x",
        "args": ["[y]"],
        "long": "command = 'no key'\n[no.table]\n",
        "env": {"args": 1},
    }
    assert tomllib.loads(after) == {"a": 1, "servers": {"ours": ours}}
    assert toml_edit.remove_table(after, TABLE) == "a = 1\n"
