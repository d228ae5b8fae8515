"""`memfs hook`."""

from __future__ import annotations

import click

from memfs import hosts


@click.command("hook")
@click.argument("host", type=click.Choice(hosts.NAMES))
def command(host: str) -> None:
    """Answer one hook call of HOST: its event as JSON on stdin, the reply on stdout.

    Assistants call this themselves once `memfs install` has wired them. Whatever goes wrong is
    one line in `.agent-memory/local/hook.log`; the exit code is always 0.
    """
    from memfs.hook.main import main

    main([host])
