"""Each `memfs` command that the documentation names exists, with the options it is given.

A command is parsed: those in `sh` fences whole, those that a sentence names as far as they go.
`test_walkthroughs.py` runs the former.
"""

import re
from pathlib import Path

import click
import pytest

from memfs.cli.group import group
from tests.docs.pages import FENCE, PAGES, list_arguments, list_printed_lines

CODE = re.compile(r"(?<!`)`(memfs [^`\n]+)`(?!`)")


def find_problem(arguments: list[str], *, is_named: bool = False) -> str:
    """Parse the arguments as memfs does; return what is wrong with them, "" if nothing is.

    A path need not exist. A command that is only named may lack arguments, and have words such as
    N in the place of values.
    """
    command: click.Command = group()
    context: click.Context | None = None
    name = "memfs"
    try:
        while isinstance(command, click.Group):
            context = command.context_class(
                command, info_name=name, parent=context, **command.context_settings
            )
            _, rest, _ = command.make_parser(context).parse_args(list(arguments))
            if not rest:
                return ""
            _, inner, arguments = command.resolve_command(context, rest)
            assert inner is not None
            name, command = inner.name or "", inner
        command.make_context(name, list(arguments), parent=context)
    except click.exceptions.Exit:  # --help, --version
        return ""
    except click.BadParameter as error:
        is_path = error.param is not None and isinstance(error.param.type, click.Path)
        return "" if is_path or is_named else error.format_message()
    except click.BadOptionUsage as error:
        return "" if is_named else error.format_message()
    except click.ClickException as error:
        return error.format_message()
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_each_command_that_is_printed_parses(page: Path) -> None:
    wrong = {
        " ".join(["memfs", *arguments]): problem
        for line in list_printed_lines(page)
        for arguments in list_arguments(line)
        if (problem := find_problem(arguments))
    }
    assert wrong == {}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_each_command_that_is_named_exists(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    wrong = {
        named: problem
        for named in CODE.findall(text)
        if "…" not in named
        for arguments in list_arguments(named)
        if (problem := find_problem(arguments, is_named=True))
    }
    assert wrong == {}


def test_commands_are_found_in_fences() -> None:
    found = [
        arguments
        for page in PAGES
        for line in list_printed_lines(page)
        for arguments in list_arguments(line)
    ]
    assert len(found) > 50
    assert ["init"] in found


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("memfs init -y && memfs install", ""),
        ("memfs session list", ""),
        ("X_Y='a b' memfs -q search why postgres --since 7d", ""),
        ("memfs --help", ""),
        ("memfs nothing", "No such command 'nothing'."),
        ("memfs session nothing", "No such command 'nothing'."),
        ("memfs search x --nothing", "No such option"),
        ("memfs undo", "Missing argument 'LABEL'."),
        ("memfs install word", "'word' is not one of"),
    ],
)
def test_what_does_not_exist_is_found(line: str, problem: str) -> None:
    found = [find_problem(arguments) for arguments in list_arguments(line)]
    assert found
    assert all(problem in each if problem else each == "" for each in found), found
