"""The house keeps its shape: floors, sizes, names, documented commands, a light hook."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

import memfs
from memfs.cli.group import COMMANDS, MODULES, PARTS, group
from memfs.core.records import Origin
from memfs.ipc import client
from memfs.ops import archive, install
from memfs.recall import index_sources
from memfs.store import dismissals
from memfs.store.blocks import Place
from memfs.store.dismissals import Dismissal

ROOT = Path(memfs.__file__).parent.parent
SOURCES = sorted([*(ROOT / "memfs").rglob("*.py"), *(ROOT / "hooks").rglob("*.py")])
ALL = [
    *SOURCES,
    *sorted((ROOT / "benchmarks").rglob("*.py")),
    *sorted((ROOT / "tests").rglob("*.py")),
]


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield what stands in lines, without going through expressions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield node
            yield from statements(node)


@cache
def nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(parse(path)))


def test_imports_go_down_only() -> None:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports")],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout.decode()


def test_no_file_is_over_500_lines_and_no_function_over_80() -> None:
    long = []
    for path in ALL:
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(ROOT)
        long += [f"{name}"] if text.count("\n") > 500 else []
        long += [
            f"{name}: {node.name}"
            for node in statements(parse(path))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and (node.end_lineno or 0) - node.lineno >= 80
        ]
    assert not long


def late_imports(tree: ast.Module) -> set[int]:
    """Return the lines of the imports that stand in functions."""
    functions = (n for n in statements(tree) if isinstance(n, ast.FunctionDef))
    return {
        node.lineno
        for function in functions
        for node in statements(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }


def test_an_import_in_a_function_has_its_reason() -> None:
    unexplained = []
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        tree, lines = parse(path), text.split("\n")
        found = late_imports(tree)
        if "ot path" not in (ast.get_docstring(tree) or ""):
            unexplained += [f"{path}:{line}" for line in found if "  # " not in lines[line - 1]]
    assert not unexplained


def test_rooms_have_a_purpose() -> None:
    vague = {"util", "utils", "helper", "helpers", "common", "manager", "misc"}
    assert not [path for path in SOURCES if {path.stem, *path.parts} & vague]


def test_every_module_says_what_it_is_for() -> None:
    assert not [path for path in SOURCES if not ast.get_docstring(parse(path))]


ON_STORES = (
    "agent",
    "api",
    "context",
    "hook",
    "ingest",
    "ipc",
    "knowledge",
    "mcp",
    "ops",
    "recall",
    "search",
    "service",
    "store",
    "tools",
)
OPENING = {
    "open",
    "io.open",
    "np.load",
    "np.memmap",
    "sqlite3.connect",
    "tantivy.Index",
    "shutil.rmtree",
    *(f"shutil.{name}" for name in ("copy", "copy2", "copyfile", "copytree", "move")),
    *(
        f"os.{name}"
        for name in (
            "open",
            "listdir",
            "scandir",
            "walk",
            "stat",
            "lstat",
            "mkdir",
            "makedirs",
            "rmdir",
            "remove",
            "unlink",
            "rename",
            "replace",
            "chmod",
            "truncate",
            "link",
            "symlink",
            "utime",
            "mkfifo",
        )
    ),
}
# Calls that open what is not below a store, or what `files` looked at for a library right before.
ELSEWHERE = {
    "agent/conversations.py": {"os.listdir"},  # a folder that a person names
    "sync/instruction_sections.py": {"os.stat", "os.rmdir"},  # instruction files of the project
    "mcp/stdio.py": {"os.open"},  # the null device
    "tools/registry.py": {"os.listdir", "os.open"},  # installed packages
    "ingest/source_files.py": {"os.scandir", "os.lstat"},  # a source's folders, outside of a store
    "importers/foreign_files.py": {"os.listdir"},  # another tool's memory
    "importers/text_files.py": {"os.stat"},  # another tool's memory
    "knowledge/session_graph/database.py": {
        "sqlite3.connect",
        "os.chmod",
    },  # in a folder that was looked at
    "ingest/transcripts.py": {"os.stat"},  # a transcript
    "ingest/transcript_files.py": {"os.walk"},  # transcripts
    "ops/service.py": {"os.remove"},  # the service's socket
    "ops/doctor/hosts.py": {"os.listdir"},  # beside settings
    "ops/init.py": {"os.makedirs"},  # a folder of its own
    "ops/install/removal_plan.py": {"os.listdir", "os.rmdir"},  # the folder of a whole store
    "ops/install/files.py": {"os.unlink", "os.rmdir"},  # settings
    "sync/githook.py": {"os.stat", "os.chmod"},  # git's hook
    "search/catalog.py": {"sqlite3.connect"},  # in a folder that was looked at
    "search/encoder.py": {"np.memmap"},  # a model
    "search/lexical.py": {"os.symlink", "tantivy.Index"},  # in a folder that was looked at, or made
    "team/server/search.py": {"tantivy.Index"},  # in memory alone
    "training/teachers.py": {"np.load"},  # a model that is made
    "search/semantic.py": {"np.load"},  # an open file
    "service/server.py": {
        "open",
        "os.stat",
        "os.lstat",
        "os.remove",
        "os.chmod",
    },  # the socket; our code
    "service/app.py": {"open"},  # the system's counters
    "service/watch.py": {"os.stat", "os.walk"},  # real paths alone are watched
    "service/throttle.py": {"open"},  # the system's counters
    "service/worker.py": {"os.stat", "os.walk"},  # transcripts
    "store/git.py": {"os.scandir"},  # git's own folder
    "store/worktrees.py": {"os.stat"},  # git's index
    "store/host_sessions.py": {"open"},  # the system's processes
    "store/resources.py": {"open"},  # what came with memfs
}


@pytest.mark.parametrize("room", ON_STORES)
def test_files_below_a_store_are_opened_in_one_way(room: str) -> None:
    top = ROOT / "memfs"
    for path in sorted((top / room).rglob("*.py")) or [top / room]:
        called = {ast.unparse(node.func) for node in nodes(path) if isinstance(node, ast.Call)}
        name = path.relative_to(top).as_posix()
        assert called & OPENING == ELSEWHERE.get(name, set()), f"memfs.files opens what {name} does"


AS_IT_IS = {  # what reads a project's files also where they are held back: who looks, or mends
    "store/upstream_changes.py",
    "ops/trust.py",
    "store/config.py",
    "store/store_paths.py",
    "store/trust.py",
    "store/incoming_changes.py",
    "store/quarantine.py",
}
READING = {"files.read", "files.beginning", "logs.read_whole", "blocks.read_whole_block"}


def test_what_may_be_held_back_is_read_by_way_of_held() -> None:
    found = {
        path.relative_to(ROOT / "memfs").as_posix()
        for path in (ROOT / "memfs").rglob("*.py")
        for node in nodes(path)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in READING
        and node.args
        and re.match(r"f'\{(\w+\.)*root\}/", ast.unparse(node.args[0]))
    }
    assert found <= AS_IT_IS, "held.path_of says which file is to be read"


STARTING = {  # what starts a process
    "subprocess.run",
    "subprocess.Popen",
    "subprocess.call",
    "subprocess.check_call",
    "subprocess.check_output",
    "subprocess.getoutput",
    "os.system",
    "os.popen",
    "os.posix_spawn",
    "os.posix_spawnp",
    *(f"os.exec{how}" for how in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
    *(f"os.spawn{how}" for how in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
}


def test_git_is_started_in_one_place() -> None:
    found = set()
    for path in SOURCES:
        starts = [
            node
            for node in nodes(path)
            if isinstance(node, ast.Call) and ast.unparse(node.func) in STARTING
        ]
        words = [node.args[0] for node in starts if node.args]
        for node in nodes(path) if starts else ():  # a command may be put together before
            words += node.elts[:1] if isinstance(node, ast.List | ast.Tuple) else []
        first = {
            str(word.value).split(" ")[0].rpartition("/")[2]
            for word in words
            if isinstance(word, ast.Constant)
        }
        if first & {"git", "git.exe"}:
            found.add(path.relative_to(ROOT).as_posix())
    assert found == {"memfs/store/git.py"}


def test_our_own_python_is_started_in_one_place() -> None:
    """Its environment is decided there. The demonstration runs commands as a person does."""
    found = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "memfs").rglob("*.py")
        if "sys.executable" in path.read_text(encoding="utf-8")
        for code in [ast.unparse(parse(path))]
        if "sys.executable" in code and any(f"{start}(" in code for start in STARTING)
    }
    assert found == {"memfs/files/child_process.py", "memfs/cli/commands/demo.py"}


def test_every_command_has_help() -> None:
    root = group()
    for name in COMMANDS:
        command = root.get_command(click.Context(root, **root.context_settings), name)
        assert command
        assert command.help
        options = (each for each in command.params if isinstance(each, click.Option))
        assert not [f"memfs {name} {each.opts[0]}" for each in options if not each.help]


def test_every_command_module_is_a_command() -> None:
    found = (ROOT / "memfs/cli/commands").iterdir()
    modules = {path.stem.rstrip("_") for path in found if path.stem[:2] != "__"}
    assert modules == {
        MODULES.get(name, name).replace("-", "_") for name in COMMANDS if name not in PARTS
    }


def test_no_group_is_repeated_possessively() -> None:
    """Before 3.11.5 Python takes too much then, as the one of Debian 12 does: `(?>(?:...)+)`."""
    wrong = re.compile(r"(?<!\\)\)(?:[+*?]|\{\d*,?\d*\})\+")
    found = (node for path in SOURCES for node in nodes(path) if isinstance(node, ast.Constant))
    assert not [text for node in found if "(?" in (text := str(node.value)) and wrong.search(text)]


def test_the_service_is_asked_as_this_version() -> None:
    assert memfs.__version__ == client.VERSION


def test_the_changelog_knows_this_version() -> None:
    assert memfs.__version__ in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def imported(repo: Path, prompt: str) -> set[str]:
    """Return what one prompt hook imports, in an interpreter started as the hook is."""
    payload = f'{{"session_id":"s","cwd":"{repo}","hook_event_name":"UserPromptSubmit","prompt":"{prompt}"}}'
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-E",
            "-X",
            "importtime",
            str(ROOT / "hooks/memfs_hook.py"),
            "claude",
        ],
        input=payload.encode(),
        capture_output=True,
        check=True,
    )
    lines = done.stderr.decode().splitlines()
    return {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}


QUIET = {
    "memfs",
    "memfs.core",
    "memfs.core.errors",
    "memfs.core.events",
    "memfs.core.label",
    "memfs.hook",
    "memfs.hook.main",
    "memfs.hosts",
    "memfs.hosts.claude",
    "memfs.hosts.base",
    "memfs.ops",
    "memfs.ops.brief",
    "memfs.ops.host_event",
    "memfs.store",
    "memfs.store.blocks",
    "memfs.files",
    "memfs.files.account",
    "memfs.store.quarantine",
    "memfs.store.store_paths",
    "memfs.store.worktrees",
    "memfs.ipc",
    "memfs.store.sessions",
}
HEAVY = {"typing", "dataclasses", "subprocess", "click", "numpy", "ruamel.yaml"}


@pytest.mark.usefixtures("place")
def test_a_quiet_prompt_imports_only_what_it_needs(repo: Path) -> None:
    imported(repo, "the first prompt brings the whole brief")
    found = imported(repo, "the second brings nothing")
    assert {name for name in found if name.startswith("memfs")} == QUIET
    assert not found & HEAVY


@pytest.mark.usefixtures("place")
def test_a_whole_brief_imports_nothing_heavy(repo: Path) -> None:
    assert not imported(repo, "hello") & HEAVY


def test_what_hooks_import_is_byte_compiled_at_an_installation(place: Place, repo: Path) -> None:
    archive.run(place, "Gophers dig tunnels.", importance=5, tags=(), origin=Origin())
    index_sources.sync(place, embed=False)
    found = imported(repo, "the first prompt brings the whole brief")
    found |= imported(repo, "where do gophers dig tunnels?")
    rooms = {name.split(".")[1] for name in found if name.startswith("memfs.")}
    assert rooms <= set(install.HOT_ROOMS)
    assert rooms >= {"hook", "ops", "recall", "context"}


def test_a_prompt_that_is_looked_up_imports_nothing_heavy(place: Place, repo: Path) -> None:
    archive.run(place, "Gophers dig tunnels.", importance=5, tags=(), origin=Origin())
    index_sources.sync(place, embed=False)
    imported(repo, "the first prompt brings the whole brief")
    found = imported(repo, "where do gophers dig tunnels?")
    assert {"tantivy", "memfs.search.prompt_relevance", "memfs.context.brief_contents"} <= found
    assert not found & HEAVY
    dismissals.add(place.home, Dismissal("1", "", "", "", [1], "", "", "", []))
    more = imported(repo, "where do gophers dig tunnels?") - found
    assert more == {"memfs.store.dismissals"}


def test_what_the_threat_model_says_is_shown_by_tests() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", text)
    assert len(named) > 20
    for path, function in named:
        assert f"def {function or 'test_'}" in (ROOT / path).read_text(encoding="utf-8"), function
    lines = [line for line in text.splitlines() if line.startswith("| ") and "shown by" not in line]
    assert not [
        line
        for line in lines
        if "`tests/" not in line
        and line.count("|") == 3
        and not line.startswith(("| who", "| a ", "| somebody", "| whoever", "| an "))
    ]


def test_the_table_of_the_seeds_names_tests() -> None:
    rows = (ROOT / "docs/contributing/seeds.md").read_text(encoding="utf-8").splitlines()
    for row in rows:
        named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row)
        assert named or not row.startswith("|") or row.startswith(("| item |", "|---")), row
        for path, function in named:
            assert f"def {function}(" in (ROOT / path).read_text(encoding="utf-8"), function
