"""The reference of the documentation, made from the program: commands, settings, the Python door.

    python -m tests.docs.reference

writes `docs/reference/`. A test fails while what stands there is anything else.
"""

import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import memfs
from memfs import hosts
from memfs.cli.group import GROUPS, PLUMBING, group, list_examples
from memfs.core import settings

FOLDER = Path(__file__).parents[2] / "docs/reference"
_MADE = "<!-- Made by `python -m tests.docs.reference`: change the program instead. -->\n"


def make_pages() -> dict[str, str]:
    """Return the pages by their file names."""
    pages = {
        "commands.md": _list_commands(),
        "configuration.md": _list_settings(),
        "python.md": _list_names(),
        "assistants.md": _list_assistants(),
    }
    return {name: _MADE + "\n" + "\n".join(lines).rstrip() + "\n" for name, lines in pages.items()}


def _list_assistants() -> list[str]:
    lines = [
        "# Assistants",
        "",
        "`memfs install NAME` wires one of these. With `--project` it writes the files of the third",
        "column, for everyone on the project. *With each change* means that tests run the real program.",
        "",
        "| assistant | name | files with `--project` | tested |",
        "|---|---|---|---|",
    ]
    for name in hosts.NAMES:
        host = hosts.get(name)
        files = ", ".join(f"`{path[2:]}`" for path, _ in host.wiring("project", "~", "."))
        tested = host.TESTED or "with each change"
        lines.append(f"| {host.TITLE} | `{name}` | {files} | {tested} |")
    return lines


def _list_commands() -> list[str]:
    lines = [
        "# Commands",
        "",
        "Two options come before a command: `-C DIR` (work in DIR) and `-q` (print only data and errors).",
        "Data goes to stdout, messages to stderr; commands with data have `--json`. Exit code 0: done;",
        "1: refused; 2: wrong usage; 70: a bug of memfs. On a terminal tables fit its width and long",
        "output goes through `$PAGER`; `NO_COLOR` turns colours off.",
        "",
    ]
    root = group()
    context = click.Context(root, info_name="memfs", **root.context_settings)
    for title, rows in [
        *((key.capitalize(), rows) for key, rows in GROUPS.items()),
        ("Plumbing", PLUMBING),
    ]:
        lines += [f"## {title}", ""]
        for names, _ in rows:
            for name in names.split():
                lines += _describe_command(context, name, 3)
    return lines


def _describe_command(parent: click.Context, name: str, level: int) -> Iterator[str]:
    """Yield the lines about a command, and about those below it."""
    above = parent.command
    assert isinstance(above, click.Group)
    command = above.get_command(parent, name)
    assert command is not None, name
    context = command.context_class(command, parent=parent, info_name=name)
    path = context.command_path
    usage = " ".join(command.collect_usage_pieces(context))
    yield from (f"{'#' * level} {path}", "", "```text", f"{path} {usage}", "```", "")
    help_text = inspect.cleandoc(command.help or "").replace("\b\n", "")
    yield from (_escape(help_text), "")
    records = [
        each.get_help_record(context) for each in command.get_params(context)
        if isinstance(each, click.Option) and not each.hidden and "--help" not in each.opts
    ]  # fmt: skip
    if records:
        yield from ("| option | |", "|---|---|")
        for record in records:
            if record:
                name, text = record
                yield f"| `{_in_cell(name)}` | {_in_cell(_escape(' '.join(text.split())))} |"
        yield ""
    is_group = isinstance(command, click.Group)
    examples = list_examples(path, group=is_group)
    if examples and not is_group:
        yield from ("```sh", *examples, "```", "")
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            if found is not None and not found.hidden:
                yield from _describe_command(context, inner, level + 1)


def _list_settings() -> list[str]:
    lines = [
        "# Configuration",
        "",
        "`.agent-memory/config.yaml` overrides `~/.agent-memory/config.yaml`, and that overrides the",
        "defaults. Variables (`MEMFS_HOOKS_RECALL=off`, `MEMFS_MAX_BLOCKS=20`) override all. A",
        "project's configuration may be stricter than yours; it names no command, model or address.",
        "A project can set variables, too, so they may set no more than its configuration.",
        "`memfs doctor` names unknown keys, with the nearest known one, wrong values with file and",
        "line, and unknown variables.",
        "",
        "| key | default | values | |",
        "|---|---|---|---|",
    ]
    for each in settings.SETTINGS:
        default = f"`{each.format_default()}`" if each.format_default() else "none"
        lines.append(f"| `{each.name}` | {default} | {each.values} | {_in_cell(each.text)} |")
    return lines


def _list_names() -> list[str]:
    lines = [
        "# Python reference",
        "",
        "What `import memfs` gives. [How it is used](../python.md).",
        "",
    ]
    objects = {name: getattr(memfs, name) for name in memfs.__all__}
    functions = {name: each for name, each in objects.items() if inspect.isroutine(each)}
    classes = {name: each for name, each in objects.items() if inspect.isclass(each)}
    for name, each in functions.items():
        lines += [f"## memfs.{name}", "", *_describe_routine(f"memfs.{name}", each)]
    for name in sorted(classes, key=lambda name: (name != "Memory", name)):
        lines += [f"## memfs.{name}", "", *_describe_class(name, classes[name])]
    return lines


def _describe_class(name: str, found: type) -> list[str]:
    lines = []
    if inspect.getdoc(found) and not _is_made_doc(found):
        lines += [_escape(inspect.getdoc(found) or ""), ""]
    fields = getattr(found, "__dataclass_fields__", None) or getattr(found, "_fields", ())
    if fields:
        lines += [f"Fields: {', '.join(f'`{field}`' for field in fields)}.", ""]
    for inner, method in _list_methods(found):
        lines += [f"### {name}.{inner}", "", *_describe_routine(inner, method)]
    return lines


def _is_made_doc(each: type) -> bool:
    """Tell whether Python made a docstring by itself, as for a dataclass or a named tuple."""
    return bool(re.match(rf"{each.__name__}\(", inspect.getdoc(each) or ""))


def _list_methods(each: type) -> Iterator[tuple[str, Any]]:
    if issubclass(each, BaseException) or hasattr(each, "_fields"):
        return
    methods: dict[str, Any] = {}
    for base in [each, *(b for b in each.__mro__[1:] if b.__module__.startswith("memfs."))]:
        for name, found in vars(base).items():
            if inspect.isfunction(found) and not name.startswith("_") and inspect.getdoc(found):
                methods.setdefault(name, found)
    yield from methods.items()


def _describe_routine(name: str, each: Any) -> list[str]:
    signature = re.sub(r"\bmemfs(?:\.\w+)+\.", "", str(inspect.signature(each)))
    shown = f"{name}{signature.replace('(self, ', '(').replace('(self)', '()')}"
    shown = re.sub(r"(: |-> )'([^']*)'", r"\1\2", shown)
    shown = re.sub(r"<function .*? at 0x\w+>", "…", shown)
    wrapped = textwrap.wrap(shown, 96, subsequent_indent="    ", break_long_words=False)
    return ["```python", *wrapped, "```", "", _escape(inspect.getdoc(each) or ""), ""]


def _escape(text: str) -> str:
    """Return plain text as Markdown: nothing in it is a tag."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else p.replace("<", "&lt;") for p in parts)


def _in_cell(text: str) -> str:
    return text.replace("|", "\\|")


def write_pages() -> None:
    """Write the pages."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in make_pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_pages()
