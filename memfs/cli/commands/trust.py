"""`memfs trust`."""

import sys
from dataclasses import asdict, replace

import click

from memfs.cli import console, layout, options
from memfs.cli.console import open_pager
from memfs.core.errors import RejectedError
from memfs.core.escaping import flatten_text
from memfs.core.formats import format_count
from memfs.core.injection_signs import split_visible
from memfs.hosts import caller
from memfs.ops import trust as op
from memfs.ops.trust import StoreText, TrustReport
from memfs.store.blocks import Place

_MOST_SIGNS = 20
_MOST_LISTED = 200  # files
_GIVE = "Let your assistants use this memory?"


@click.command("trust")
@click.option(
    "-y", "--yes", is_flag=True, help="Do not ask for confirmation (a terminal is still needed)."
)
@click.option(
    "--revoke", is_flag=True, help="Stop trusting the store, so that hooks no longer use it."
)
@click.option(
    "--local",
    is_flag=False,
    flag_value="",
    metavar="[DIR]",
    help="Use a local/ folder that you own, but that memfs did not create on this machine.",
)
@click.option("--digest", is_flag=True, help="Print only the digest of all files in the store.")
@click.option(
    "--accept",
    default="",
    metavar="SHA256",
    help="Trust the store without asking, if its files have this digest.",
)
@options.json_option
def command(
    yes: bool, revoke: bool, local: str | None, digest: bool, accept: str, as_json: bool
) -> None:
    """Review a project's memory that came with a clone, and allow assistants to use it.

    Until then hooks do not use the store. The command shows all files in full, the purpose and the
    authors of each, and lines that may be meant to mislead an assistant. For a trusted store it
    shows changes by others, and the rules that blocks enforce. You accept exactly the shown text.

    Only a person can trust a store, so the command needs a terminal, and does not run in an
    assistant's shell. No assistant or script can trust a store by accident. A program that runs as
    you still can, because it can open its own terminal.

    In a pipeline or a container, give --accept the digest of the files that a person reviewed.
    """
    place = options.place(untrusted=True)
    if revoke:
        revoked = op.revoke(place)
        console.print_done(
            "the store is no longer trusted: hooks do not use it"
            if revoked
            else "the store was not trusted"
        )
    elif local is not None:
        _adopt_local(place, local)
    elif digest:
        console.data(op.compute_digest(place))
    elif accept:
        _refuse_assistant()
        op.accept_digest(place, accept)
        console.print_done("the store is trusted: its files have this digest")
    else:
        _decide(place, yes=yes, as_json=as_json)


def _decide(place: Place, *, yes: bool, as_json: bool) -> None:
    if place.project is None and (rules := op.describe_rules(place)):
        _decide_rules(place, rules, yes=yes)
        return
    report = op.review_store(place)
    is_settled = report.trusted and not (report.changed or report.rules)
    if not is_settled:
        _require_person()  # before anything of it is shown
    if as_json:
        console.as_json(_build_record(report))
    else:
        _show(report)
    if is_settled:
        console.print_done(f"{report.root} is trusted; no changes by others since your last review")
        return
    _show_rules(report.rules)
    if not yes:
        asked = "Enforce these rules?" if report.trusted and not report.changed else _GIVE
        click.confirm(asked, abort=True, err=True)
    op.accept(place, report)
    console.print_done(f"{report.root} is trusted")


def _decide_rules(place: Place, rules: tuple[tuple[str, str], ...], *, yes: bool) -> None:
    _require_person()
    _show_rules(rules)
    if not yes:
        click.confirm("Enforce these rules?", abort=True, err=True)
    op.accept_rules(place, rules)
    console.print_done("these rules are now enforced")


def _show_rules(rules: tuple[tuple[str, str], ...]) -> None:
    if rules:
        _echo(
            "These rules will be enforced when an assistant's tool writes a file or runs a command:"
        )
    for key, what in rules:
        _echo(f"! {key}: {what}")


def _adopt_local(place: Place, name: str) -> None:
    _require_person()
    other = op.adopt_local(place, name)
    console.print_done(
        f"memfs now uses this local folder; the previous one is {other}"
        if other
        else "there is no other local folder to use"
    )


def _refuse_assistant() -> None:
    if name := caller.find_assistant():
        raise RejectedError(
            f"only a person can trust a store, but this is a shell of {name}",
            "run memfs trust in your own terminal",
        )


def _require_person() -> None:
    """Raise `RejectedError` in the shell of an assistant, and where there is no terminal."""
    _refuse_assistant()
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise RejectedError(
            "only a person at a terminal can trust a store",
            "run memfs trust in your own terminal; in a CI pipeline: memfs trust --accept SHA256",
        )


def _show(report: TrustReport) -> None:
    with open_pager():
        if report.trusted:
            for change in report.changed:
                why = f": {change.why}" if change.why else ""
                label = change.key.partition(":")[2]
                _echo(f"{label}, {change.what} by {change.author}{why}")
                _show_text(change.diff)
        else:
            for each in report.texts:
                _echo(f"{each.name}, {format_count(len(each.text), 'character')}, {each.use}")
                _show_text(each.text)
    if report.trusted:
        return
    rows = [("FILE", "CHARS", "USED FOR", "WRITTEN BY")]
    for each in report.texts[:_MOST_LISTED]:
        rows.append((each.name, f"{len(each.text):,}", each.use, _name_authors(each)))
    if report.texts:
        console.echo(layout.table(rows, right=(1,)))
    if len(report.texts) > _MOST_LISTED:
        _echo(f"and {len(report.texts) - _MOST_LISTED:,} more files, shown above")
    for problem in report.problems:
        _echo(f"! {problem}")
    if report.tracked:
        _echo(
            f"! {format_count(report.tracked, 'file')} in local/ came with the repository, and "
            "may be harmful: memfs never commits local/"
        )
    _show_signs(report)
    console.talk(f"digest: {report.digest}")


def _show_text(text: str) -> None:
    """Print a text of others as it is, behind a mark; what nobody sees is an escape."""
    plain = "".join(piece for piece, _ in split_visible(text))
    lines = plain.removesuffix("\n").split("\n")
    console.echo("\n".join(f"  │ {line}" for line in lines) if plain else "  │")


def _echo(text: str) -> None:
    """Print a line that others may have written: without control characters, into a pipe too."""
    console.echo(flatten_text(text))


def _show_signs(report: TrustReport) -> None:
    found = [(each.name, sign) for each in report.texts for sign in each.signs]
    for name, sign in found[:_MOST_SIGNS]:
        mark = console.style("!", "yellow")
        quoted = f": {layout.shorten(sign.text, 60)}" if sign.text else ""
        console.echo(f"{mark} {flatten_text(name)}:{sign.line} {sign.what}{quoted}")
    if len(found) > _MOST_SIGNS:
        _echo(f"! and {len(found) - _MOST_SIGNS:,} more lines to check")


def _name_authors(text: StoreText) -> str:
    if not text.authors:
        return "not committed"
    first, *others = [author.partition(" <")[0] for author in text.authors]
    return layout.shorten(first, 30) + (f" and {len(others)} more" if others else "")


def _build_record(report: TrustReport) -> dict[str, object]:
    found = asdict(replace(report, found=None))
    del found["found"]
    for each, record in zip(report.texts, found["texts"], strict=True):
        record["signs"] = [sign._asdict() for sign in each.signs]
    return found
