"""`memfs apply`."""

from __future__ import annotations

import json
import os
import sys

import click

from memfs.cli import context, screen
from memfs.tools import batch, shapes, table
from memfs.tools.desk import Desk


@click.command("apply")
@click.option("--atomic", is_flag=True, help="All of the calls or none.")
@context.session_option
def command(atomic: bool, session: str) -> None:
    """Do the tool calls on standard input, and print a result for each, a line of JSON.

    Calls are taken as Anthropic, OpenAI (chat and responses) and Gemini write them, or as
    {"name": …, "arguments": …}; one or many, JSON or JSONL, whole replies too. A result has the
    shape of its call; what could not be done says why, and what to do instead. Exit code 1: some
    call was not done.
    """
    written = shapes.read(sys.stdin.read())
    desk = Desk(os.getcwd(), context.origin(session=session))
    do = batch.together if atomic else batch.in_order
    results = do(desk, table.offered(desk).tools, [each.call for each in written])
    for each, result in zip(written, results, strict=True):
        screen.data(json.dumps(shapes.write(result, each.shape), ensure_ascii=False))
    if any(result.is_error for result in results):
        raise SystemExit(1)
