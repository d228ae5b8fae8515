"""Whole screens of every command, at 80 and at 60 columns, in colours and without.

They are kept in `screens/`. To record them anew after a wanted change, and look at the diff:
`MEMFS_TEST_RECORD=1 python -m pytest tests/cli/test_whole_screens.py -n 0`.
"""

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from memfs.cli import console, main
from memfs.cli.group import COMMANDS, GROUPS, PLUMBING, TOPICS, group, list_examples
from memfs.store import resources
from tests.cli.conftest import SESSION, write_session

RECORD = bool(os.environ.get("MEMFS_TEST_RECORD"))
SCREENS = Path(__file__).parent / "screens"
SAID = (
    ("user", "which port does the zephyr gateway use, and which one do its metrics have?"),
    ("assistant", "We use port 7741 for the zephyr gateway, because 7740 is the firewall's own."),
    ("user", "Never deploy the zephyr gateway on Fridays."),
    ("assistant", "Understood: no deployments of the zephyr gateway on Fridays."),
    ("user", "thanks, that fixed it"),
    ("assistant", "You are welcome."),
)
LONG = "Keeps what every service of the shop listens on, who owns it, and where its logs are kept"
COMMON = (  # what people see of a store that is used
    "status",
    "status --window",
    "show human",
    "show --list",
    "log",
    "log api",
    "diff api",
    "blame api",
    "search zephyr port",
    "search zephyr port --sessions",
    "search zephyr port --open 1",
    "search nothing_of_the_kind",
    "recall 'restart the zephyr gateway'",
    "last",
    "archive list",
    "facts",
    "facts list --summary",
    "graph",
    "static list",
    "static show limits",
    "source list",
    "source show docs",
    "source sync",
    "source show dcos",
    "session list",
    "session show 0a1b",
    "review list",
    "doctor",
    "sync --dry-run",
    "rethink human --no-model",
    "page out api --task gateways --dry-run",
    "tools",
    "service",
    "service status",
    "import",
    "export - --all",
    "ingest",
    "install",
    "uninstall",
    "trust",
    "show humn",
    "search --host cluade x",
    "serch",
    "help plumbing",
)

RAW = ("diff", "sync", "show", "install", "rethink", "recall")  # as they are
Screen = Callable[..., str]


class Terminal(io.TextIOWrapper):
    """A stream that is a terminal, and keeps what was written."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """Run a command line on a terminal of some columns; return its screen and exit code."""

    def run(line: str, columns: int = 80, *, coloured: bool = False) -> str:
        if coloured:
            monkeypatch.delenv("NO_COLOR", raising=False)
        else:
            monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setenv("COLUMNS", str(columns))
        stream = Terminal(io.BytesIO(), "utf-8", write_through=True)
        monkeypatch.setattr(sys, "stdout", stream)
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
        monkeypatch.setattr(sys, "argv", ["memfs", *shlex.split(line)])
        code = main.main()
        assert isinstance(stream.buffer, io.BytesIO)
        text = re.sub("\r[^\n\r]*\x1b\\[K", "", stream.buffer.getvalue().decode())  # progress
        return text + (f"(exit code {code})\n" if code else "")

    return run


@pytest.fixture
def shop(home: Path, monkeypatch: pytest.MonkeyPatch, screen: Screen) -> Iterator[Path]:
    """A store in use, in a folder whose name has the same length everywhere."""
    folder = Path(tempfile.mkdtemp(dir="/tmp", prefix="m"))
    try:
        shop = folder / "shop"
        subprocess.run(["git", "init", "-q", "-b", "main", str(shop)], check=True)
        (folder / "me").mkdir()
        monkeypatch.setenv("HOME", str(folder / "me"))
        monkeypatch.setattr(sys, "executable", "/usr/bin/python3")
        monkeypatch.setenv("PATH", os.environ["PATH"].partition(":")[0] + ":/usr/bin:/bin")
        monkeypatch.chdir(shop)
        write_session(folder / "said.jsonl", shop, *SAID)
        (shop / "docs").mkdir()
        for name in ("alerts", "backups", "gateway", "logs", "nodes"):
            (shop / f"docs/{name}.md").write_text(f"# {name}\n\nThe runbook of {name}.\n")
        (shop / "docs/notes.txt").write_text("nothing\n")
        (shop / "docs/key.md").write_text("key = AKIA" + "IOSFODNN7EXAMPLF\n")
        for line in (
            "init",
            f"create api 'Timeouts are 5 seconds.' --description '{LONG}' --tag ops",
            "edit api --append 'The zephyr gateway listens on 7741.' -m 'asked for it twice'",
            "edit human --append '- Prefers short answers.'",
            "edit human --insert 0 '- Prefers short answers.'",
            f"archive add '{LONG}, since 2024.' --tag ops",
            "archive add 'The zephyr gateway has two nodes.' --importance 8",
            "static add limits 'At most 100 requests a second.' --category api",
            f"ingest {folder / 'said.jsonl'}",
            "facts extract",
            "source add docs docs --glob '*.md'",
            f"session outcome {SESSION} worked",
        ):
            assert "exit code" not in screen(line), line
        yield shop
    finally:
        shutil.rmtree(folder)


def settle(text: str) -> str:
    """Return a screen without what differs from run to run, each of the same width."""
    text = re.sub(r"/tmp/m\w{8}", "/tmp/m00000000", text)  # noqa: S108 - a name in a text
    text = re.sub(r"\b[0-9a-f]{8}(?= +2026)", "5f5f5f5f", text)
    text = re.sub(r"\b01[0-9a-f]{18}\b", "01f5" * 5, text)
    text = re.sub(r"^\d+ tokens: ", "340 tokens: ", text, flags=re.MULTILINE)
    text = re.sub(r"Python 3\.\d+\.\d+", "Python 3.11.0", text)
    text = re.sub(r"\b\d[\d.,]* (B|kB|MB)\b", r"9.9 \1", text)
    text = re.sub(r"\b(meaning|words) \d\.\d\d", r"\1 0.50", text)
    return re.sub(r"\b0\.\d\d\b", "0.50", text)


def check(name: str, found: str) -> None:
    """Compare a screen with the kept one, or keep it."""
    path = SCREENS / f"{name}.txt"
    if RECORD:
        path.parent.mkdir(exist_ok=True)
        path.write_text(found)
    assert found == path.read_text()


def find_wide(shown: dict[str, str], columns: int) -> dict[str, list[str]]:
    """Return the lines that are too wide, of each command that prints no text as it is."""
    wide = {
        line: [each for each in click.unstyle(text).split("\n") if console.width(each) > columns]
        for line, text in shown.items()
        if not line.startswith(RAW)
    }
    return {line: some for line, some in wide.items() if some}


def list_commands() -> list[str]:
    """Return the names of all commands, those of groups too: `archive add`."""
    found = []
    root = group()
    context = click.Context(root, **root.context_settings)
    for name in COMMANDS:
        command = root.get_command(context, name)
        found.append(name)
        if isinstance(command, click.Group):
            found += [f"{name} {inner}" for inner in command.list_commands(context)]
    return found


ALL = list_commands()


@pytest.mark.parametrize("columns", [60, 80])
def test_the_help_of_every_command(screen: Screen, columns: int) -> None:
    screens = {name: screen(f"{name} --help", columns) for name in ("", *ALL) if name != "hook"}
    for name, shown in screens.items():
        cut = re.findall(r"[a-z,]\.\.\.$", shown, re.MULTILINE)  # a summary that goes on
        assert cut == [], name
        wide = [line for line in shown.split("\n") if console.width(line) > columns]
        assert [line for line in wide if not line.startswith("    memfs ")] == [], name
    check(
        f"help-{columns}",
        "".join(f"$ memfs {name} --help\n{each}\n" for name, each in screens.items()),
    )


def test_all_commands_are_on_one_screen(screen: Screen) -> None:
    shown = screen("--help").split("\n")
    assert len(shown) <= 40
    assert max(map(len, shown)) <= 80
    listed = [name for rows in GROUPS.values() for names, _ in rows for name in names.split()]
    hidden = [name for names, _ in PLUMBING for name in names.split()]
    assert sorted([*listed, *hidden]) == sorted(COMMANDS)
    assert len({*listed, *hidden}) == len(COMMANDS)
    head = "\n".join(shown)
    assert all(name in head for name in listed)
    assert "merge-driver" not in head


def test_topics_fit_a_screen(screen: Screen) -> None:
    for topic in TOPICS:
        shown = screen(f"help {topic}").split("\n")
        assert len(shown) > 5
        assert max(map(len, shown)) <= 80, topic


@pytest.mark.parametrize("name", ALL)
def test_every_command_has_examples_that_it_understands(name: str) -> None:
    root = group()
    examples = list_examples(f"memfs {name}")
    assert examples or name.startswith("service ")
    for line in examples:
        words = shlex.split(line.partition(" < ")[0].partition(" > ")[0])[1:]
        context = click.Context(root, info_name="memfs", **root.context_settings)
        command: click.Command | None = root
        while isinstance(command, click.Group) and words and words[0] != "-":
            inner = command.get_command(context, words[0])
            if inner is None:
                break
            command, words = inner, words[1:]
        assert command is not None
        if name != "hook" and not isinstance(command, click.Group):
            command.make_context(name, words, parent=context)


def test_every_example_is_of_a_command() -> None:
    lines = resources.read_text("templates", "help", "examples.txt").splitlines()
    assert {line.split()[1] for line in lines} == set(COMMANDS)


@pytest.mark.parametrize("name", ["60", "80", "80-coloured"])
def test_what_people_see_of_a_store_in_use(shop: Path, screen: Screen, name: str) -> None:
    columns, coloured = int(name[:2]), name.endswith("coloured")
    shown = {line: settle(screen(line, columns, coloured=coloured)) for line in COMMON}
    assert find_wide(shown, columns) == {}
    check(f"shop-{name}", "".join(f"$ memfs {line}\n{each}\n" for line, each in shown.items()))


def test_it_fits_a_wide_terminal_too(shop: Path, screen: Screen) -> None:
    assert find_wide({line: screen(line, 120) for line in COMMON}, 120) == {}
