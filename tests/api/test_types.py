"""The names and types of the package: what signatures use is there, and a user's checker agrees."""

import ast
import builtins
import inspect
import re
import subprocess
import sys
from pathlib import Path

import memfs

SCRIPT = """\
from datetime import date
from typing import assert_type

import memfs

edits: list[memfs.Edit] = [memfs.Append("human", "a"), memfs.Remove("human", "a")]
mode: memfs.Mode = "text"
with memfs.open(".") as memory:
    assert_type(memory, memfs.Memory)
    assert_type(memory.blocks(), list[memfs.Block])
    assert_type(memory.edit(edits, reason="b"), tuple[memfs.JournalEntry, ...])
    only = memfs.Filter(kinds=("passage",))
    assert_type(memory.search("a", mode=mode, only=only, since=date.today()), list[memfs.Hit])
    assert_type(memory.sessions("a"), list[memfs.SessionHit])
    assert_type(memory.list_sessions(), list[memfs.RecordedSession])
    assert_type(memory.read_session("a"), list[memfs.Message])
    assert_type(memory.ingest("a"), memfs.Tally)
    assert_type(memory.facts("a"), list[memfs.Fact])
    assert_type(memory.export("a.zip"), memfs.Exported)
    assert_type(memory.import_("a.zip").items, tuple[memfs.ImportItem, ...])
    kinds = memory.orchestrator()
    kinds.register(memfs.Vector(memory.place, capacity=memfs.Capacity(max_items=1)))
    assert_type(kinds.context(memfs.State(task="a")), memfs.Context)
    assert_type(memfs.find_secrets("a"), list[memfs.Secret])
    # not allowed
    memory.outcome("a", "well")
    memory.facts(limit=1)
memfs.nothing
"""


def test_a_users_script_is_checked_strictly(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    command = [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={tmp_path}", str(path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    found = re.findall(r"^script.py:(\d+): error: .*\[([a-z-]+)\]$", done.stdout, re.MULTILINE)
    wrong = SCRIPT.splitlines().index("    # not allowed") + 2
    assert found == [
        (str(wrong), "arg-type"),
        (str(wrong + 1), "call-arg"),
        (str(wrong + 2), "attr-defined"),
    ], done.stdout + done.stderr


def test_every_name_is_there() -> None:
    assert dir(memfs) == sorted(memfs.__all__)
    for name in memfs.__all__:
        assert getattr(memfs, name) is not None


def find_annotations(kind: type) -> set[str]:
    """Return the names in the annotations of the public methods of a class."""
    nodes = (node for base in kind.__mro__[:-1] for node in ast.walk(parse(base)))
    found = set()
    for node in nodes:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            given = [*node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
            hints = [node.returns, *(each.annotation for each in given if each)]
            inner = [each for hint in hints if hint for each in ast.walk(hint)]
            found |= {each.id for each in inner if isinstance(each, ast.Name)}
    return found


def parse(kind: type) -> ast.AST:
    if not kind.__module__.startswith("memfs"):
        return ast.Module([], [])
    return ast.parse(inspect.getsource(kind))


OTHERS = {"Sequence", "Mapping", "Any", "Literal", "Self", "date", "os"}


def test_what_signatures_name_can_be_imported() -> None:
    for kind in (memfs.Memory, memfs.Orchestrator, memfs.Kind):
        named = find_annotations(kind) - OTHERS - set(dir(builtins))
        assert named
        assert named <= set(memfs.__all__)
