"""Facts in tool output: versions, tasks, remotes, the purpose of files and commands.

Only output that was matched to a call is searched, and only for formats that programs print: rules,
preferences and decisions are ignored, as anybody can write a file or a page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from memfs.core.records import Message
from memfs.knowledge.facts.extraction import calls, commands, manifests, prose, source
from memfs.knowledge.facts.extraction.calls import ToolUse
from memfs.knowledge.facts.extraction.candidate import FactCandidate, build_candidate

_Reader = Callable[[str, str], Iterator[FactCandidate]]

_MOST = 10  # facts of one kind
_BEFORE = re.compile(r"(?:rtk|sudo|time|command) ")
_DOCUMENTED = re.compile(r"go doc ([\w./-]+)")
_SEARCHES = re.compile(r"(?:git grep|grep|egrep|rg|ag|ack)\b")
_UNLIKE = re.compile(r"^(?:cd \S+ && )|(?: 2>&1)|(?: \| (?:tail|head|sed -n|grep)(?: -?[\w',]+)*)$")
_CHAINED = re.compile(r"[|;&<>\n]")
_LONGEST = 60  # characters of a command in a fact
_TASK = re.compile(r"^\[([\w:.-]{2,40})\] \$ (\S[^\n]{2,120})$", re.MULTILINE)
_SCRIPT = re.compile(r"(?:bun|yarn|pnpm)(?: run)? ([a-z][\w:.-]*)")
_SCRIPT_RUNS = re.compile(r"\$ (\S[^\n]{2,120})(?:\n|\Z)")
_NPM_RUNS = re.compile(r"^> (\S+?)@\S+ ([\w:.-]+)(?: \S+)?\n> (\S[^\n]{2,120})$", re.MULTILINE)
_ASKED = re.compile(r"([\w.-]+) (?:--version|version|-V|-v)")
_VERSION = re.compile(
    r"(?:([A-Za-z][\w.+-]*(?: [A-Z]{2,4})?),?:? )?(?:version:? )?(?:go|v)?(\d+\.\d+[\w.+-]*)"
    r"(?:[ ,].*)?"
)
_PLATFORM = re.compile(r"OS/Arch: +(\w+/\w+)|((?:Linux|Darwin) \S+ \d[^\n]{5,60})")
_BANNERS = (
    re.compile(r"^(bun) test v(\d+\.\d+\.\d+)", re.MULTILINE),
    re.compile(r"^platform \w+ -- (Python) (\d+\.\d+\.\d+)", re.MULTILINE),
    re.compile(r"^platform .{1,60}, (pytest)-(\d+\.\d+\.\d+)", re.MULTILINE),
    re.compile(r"^(?:added|installed|\+) (@?[a-z][\w./-]*)[@ ]v?(\d+\.\d+\.\d+)\b", re.MULTILINE),
)
_INSTALLED = re.compile(r"^Successfully installed (.{3,600})$", re.MULTILINE)
_WHEEL = re.compile(r"([A-Za-z][\w.-]*?)-(\d+(?:\.\d+)+\w*)(?: |$)")
_GRAPH = re.compile(r"^([^\s@]+) ([^\s@]+/[^\s@]+)@(v\d\S*)$", re.MULTILINE)
_REMOTE = re.compile(r"^(\w+)\s+(\S+) \(fetch\)$", re.MULTILINE)
_SECRET_URL = re.compile(r"(?<=://)[^/@]+@")
_HEAD = re.compile(
    r"^\* remote (\w+)$.{0,400}?^ +HEAD branch: ([\w./-]+)$", re.MULTILINE | re.DOTALL
)
_COMMITTED = re.compile(r"^\[\S+ (?:\(root-commit\) )?[0-9a-f]{7,}\] (.{10,100})$", re.MULTILINE)
_LOGGED = re.compile(
    r"^commit [0-9a-f]{7,40}\b[^\n]*\n(?:[A-Z]\w+: [^\n]*\n)+\n((?:    [^\n]*\n?)+)", re.MULTILINE
)
_ONE_LINE = re.compile(r"\bgit log\b.* --oneline")
_LOGGED_SHORT = re.compile(r"^[0-9a-f]{7,12} (?:\([^)\n]{1,80}\) )?(\S.{10,100})$", re.MULTILINE)
_LATEST = 5  # commits of one log
_ISSUE = re.compile(r'"title": ?"((?:[^"\\]|\\.){8,160})"')
_ISSUE_URL = re.compile(r'"url": ?"(https://[\w./-]+/(?:issues|pull)/\d+)"')
_HELP = re.compile(r"([\w@./-]+(?: [a-z][\w-]*){0,2}) (?:--help|-h|help)")
_HEADING = re.compile(r"\S.{0,40}:")
_OPTION = re.compile(r" {2,}(?:-\w, )?(--[\w-]+)(?:[ =][<\[]?\w+[>\]]?)? {2,}(\S.{8,160})")
_COMMAND = re.compile(r" {2,4}([a-z][\w-]*)(?:, \w+)?(?: [<\[][\w. -]+[>\]])* {2,}(\S.{8,160})")
_FAILS = re.compile(
    r"^(?:error: )?((?:unrecognized|unknown|invalid|no such) (?:sub)?(?:command|option|flag)\b"
    r".{2,60}|unexpected argument .{2,60}|No module named \S{2,60}|Cannot find module \S{2,60})$",
    re.MULTILINE | re.IGNORECASE,
)
_NO_OPTION = re.compile(
    r"^(\w+): (?:illegal|invalid|unrecognized) option -- '?(\w)'?$", re.MULTILINE
)
_NO_COMMAND = re.compile(
    r"^(?:[\w/.-]+: (?:line \d+: )?)?"
    r"(?:command not found: ([\w.-]+)|([\w.-]+): command not found)$",
    re.MULTILINE,
)


def facts(call: ToolUse, message: Message) -> list[FactCandidate]:
    """Return the distinct facts in the output of a call."""
    text = calls.strip_wrapping(message.text)
    if text.startswith("<tool_use_error>"):
        return []
    found: dict[str, FactCandidate] = {}
    if call.kind in ("read", "edit") and call.path:
        some = _extract_from_file(call, text)
    elif call.kind == "search":
        some = source.extract_matches(text, call.path, message.project)
    elif call.kind == "run":
        some = _extract_from_run(call.command, text, message.project)
    else:
        some = []
    for candidate in some:
        found.setdefault(candidate.statement, candidate)
    return list(found.values())


def _extract_from_file(call: ToolUse, text: str) -> list[FactCandidate]:
    every = list(source.lines(text))
    if call.kind == "edit" and not any(line.number for line in every):
        return []  # the result shows no content of the file
    lines = "\n".join(line.text for line in every)
    if call.path.endswith((".md", ".mdc", ".mdx")):
        skill = manifests.skill(call.path, lines)
        return skill or prose.extract_document(lines)[:_MOST]
    return manifests.facts(call.path, lines) or source.facts(call.path, text)


def _extract_from_run(command: str, text: str, project: str) -> list[FactCandidate]:
    plain = command
    while (short := _UNLIKE.sub("", plain).strip()) != plain:
        plain = short
    if _SEARCHES.match(plain):
        return source.extract_matches(text, "", project)
    if (query := _DOCUMENTED.match(plain)) and "/" in query[1]:
        return source.facts(query[1], text, code=True)
    if _CHAINED.search(plain):
        plain = ""
    return [each for read in _READERS for each in read(plain, text)]


def _find_tasks(command: str, text: str) -> Iterator[FactCandidate]:
    for match in _TASK.finditer(text):
        if not match[2].endswith(("…", " ...")):
            yield manifests.task(match[1], match[2])
    for match in _NPM_RUNS.finditer(text):
        statement = f"The script `{match[2]}` of `{match[1]}` runs `{match[3]}`"
        yield build_candidate(statement, "technical", 0.85, f"script {match[2]} of {match[1]}")
    script, runs = _SCRIPT.fullmatch(command), _SCRIPT_RUNS.match(text)
    if script and runs:
        yield build_candidate(
            f"`{command}` runs `{runs[1]}`", "technical", 0.85, f"script {script[1]}"
        )


def _find_versions(command: str, text: str) -> Iterator[FactCandidate]:
    query = _ASKED.fullmatch(command)
    for line in text.strip().split("\n")[:4] if query else ():
        platform, match = _PLATFORM.match(line), _VERSION.fullmatch(line)
        if platform:
            name = platform[1] or platform[2]
            yield build_candidate(f"The system is {name}", "environment", 0.8, "system")
        elif match and query:
            tool = match[1] or query[1]
            if tool.lower().startswith(query[1].lower()):
                yield _make_version(query[1], match[2])
            else:
                report = f"`{query[1]}` reports {tool} {match[2]}"
                yield build_candidate(report, "version", 0.8, f"version of {tool} in {query[1]}")
    for form in _BANNERS:
        for match in list(form.finditer(text))[:_MOST]:
            yield _make_version(match[1], match[2])
    for match in _INSTALLED.finditer(text):
        for wheel in list(_WHEEL.finditer(match[1]))[:_MOST]:
            yield _make_version(wheel[1], wheel[2])
    if command.startswith("go mod graph"):
        for match in list(_GRAPH.finditer(text))[:_MOST]:
            statement = f"`{match[1]}` depends on `{match[2]}` {match[3]}"
            yield build_candidate(
                statement, "version", 0.85, f"version of {match[2]} in {match[1]}"
            )


def _make_version(tool: str, version: str) -> FactCandidate:
    statement = f"The installed version of `{tool}` is {version}"
    return build_candidate(statement, "version", 0.85, f"version of {tool.lower()}")


def _find_git(command: str, text: str) -> Iterator[FactCandidate]:
    git = _BEFORE.sub("", command, count=1)
    if git.startswith("git remote"):
        for match in _REMOTE.finditer(text):
            url = _SECRET_URL.sub("", match[2])
            statement = f"The remote `{match[1]}` is `{url}`"
            name = url.rpartition("/")[2]
            yield build_candidate(statement, "environment", 0.85, f"remote {match[1]} of {name}")
        for match in list(_HEAD.finditer(text))[:1]:
            statement = f"The default branch of `{match[1]}` is `{match[2]}`"
            yield build_candidate(statement, "environment", 0.85, f"default branch of {match[1]}")
    for match in _COMMITTED.finditer(text):
        yield from commands.split_message(match[1])
    if git.startswith(("git show", "git log")):
        for match in list(_LOGGED.finditer(text))[:_MOST]:
            lines = (line.removeprefix("    ") for line in match[1].split("\n"))
            yield from commands.split_message("\n".join(lines))
    if _ONE_LINE.search(git):
        some = [commands.split_message(match[1]) for match in _LOGGED_SHORT.finditer(text)]
        yield from [candidate for each in some for candidate in each][:_LATEST]
    if command.startswith("gh "):
        title, found = _ISSUE.search(text), _ISSUE_URL.search(text)
        if title and found:
            statement = f"{found[1]} is titled “{title[1]}”"
            yield build_candidate(statement, "technical", 0.8, f"title of {found[1]}")


def _find_help(command: str, text: str) -> Iterator[FactCandidate]:
    """Yield the descriptions of commands and options in the help of a program."""
    query = _HELP.fullmatch(command.removeprefix("npx ").removeprefix("-y "))
    if not query:
        return
    form, name = None, re.sub(r"(?<=\w)@\d[\w.]*", "", query[1])
    left = _MOST
    for line in text.split("\n"):
        if _HEADING.fullmatch(line):
            heading = line.lower().rstrip(":")
            form = _COMMAND if heading.endswith("commands") else None
            form = _OPTION if heading in ("flags", "options", "global options") else form
        match = form.fullmatch(line) if form else None
        if (
            match
            and left
            and match[1] not in ("help", "version")
            and source.is_informative(match[2], f"{name} {match[1]}", 3)
        ):
            left -= 1
            whole = f"{name} {match[1]}"
            yield build_candidate(f"`{whole}`: {match[2]}", "technical", 0.75, f"what {whole} does")


def _find_errors(command: str, text: str) -> Iterator[FactCandidate]:
    """Yield unknown commands and options, and missing programs."""
    head = text[:1000]
    match = _FAILS.search(head)
    if match and command and len(command) <= _LONGEST:
        yield build_candidate(
            f"`{command}` fails: {match[1]}", "environment", 0.7, f"failure of {command}"
        )
    for match in _NO_OPTION.finditer(head):
        yield build_candidate(f"`{match[1]}` has no option `-{match[2]}` here", "environment", 0.75)
    for match in _NO_COMMAND.finditer(head):
        name = match[1] or match[2]
        yield build_candidate(f"The command `{name}` is not found here", "environment", 0.75)


_READERS: tuple[_Reader, ...] = (_find_tasks, _find_versions, _find_git, _find_help, _find_errors)
