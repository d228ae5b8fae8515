"""Handovers: what the next session is told of the last one, made from recall alone."""

import json
import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from memfs import files, hosts
from memfs.core.brief_layout import units
from memfs.core.escaping import flatten_text, quote_lines
from memfs.core.records import Message
from memfs.files import logs
from memfs.recall.sentences import split_sentences
from memfs.search.doc_json import epoch
from memfs.search.lexical import TextIndex, get_field
from memfs.store import handoff, recall
from memfs.store.handoff import Handoff
from memfs.store.store_paths import Store

_TAIL = 512 << 10  # bytes at the end of a recall file
_SESSIONS = 5  # the newest, of which the handovers are kept
_PROMPTS = 300  # the newest of users, among which these are looked for
_LONGEST = 600  # UTF-16 units of a handover
_OPEN_DAYS, _DONE_DAYS = 7, 1  # how long it is told, with something open and without
_DAY = 24 * 3600
_FEWEST = 4  # words of a request that stands for itself: "ok, commit" does not
_HEAD = 120  # characters of who and when
_LONGEST_THANKS = 20  # words
_ROOM = {
    "asked": 150,
    "closed with": 160,
    "last said": 160,
    "open": 150,
    "files": 150,
    "failed": 120,
}
_LINE = re.compile(r"(?m)^[ \t]*(?:#+[ \t]+|>[ \t]?|\|.*|[-*_=]{3,}$|[-*+•][ \t]+|\d+[.)][ \t]+)")
_FENCED = re.compile(r"(?s)^```.*?(?:^```|\Z)", re.MULTILINE)
_MARKUP = re.compile(r"\*\*|`|\[([^\[\]\n]*)\]\([^()\n]*\)|<[^<>\n]{1,80}>")
_FILLER = re.compile(
    r"(?i)(?:perfect|great|done|excellent|good|ok(?:ay)?|now|yes|sure|all (?:set|done)|summary|"
    r"let me\b.*|i'll\b.*|i will\b.*|here(?:'s| is| are)\b.*:|what (?:i|was) .*:)[\W_]*\Z"
)
_HEADING = re.compile(r"(?m)^[ \t]*(?:#+[ \t].*|\*\*[^*\n]+\*\*:?[ \t]*)$")
_QUOTED = re.compile(r"\"[^\"\n]*\"|\u201c[^\u201c\u201d\n]*\u201d|`[^`\n]*`")
_NEXT = re.compile(
    r"(?i)\b(?:remaining (?:work|steps?|tasks?|items?|issues?|failures?)|remains?|"
    r"next steps?|still (?:need|fail|to|open|missing|broken)\w*|not yet|todo|"
    r"left to do|unresolved|(?:would you|do you|if you)(?:'d| would)? (?:like|want|prefer)|"
    r"want me to|should i|shall i|let me know|waiting for|follow[- ]?up|blocked|before i|"
    r"you(?:'ll| will)? need to|can't be (?:run|tested)|could not)\b"
)
_PATCHED = re.compile(r"(?m)^(?:\w+: )?\*{3} (?:Add|Update|Delete|Move to)(?: File)?: (.+)$")
_PATH = re.compile(
    r"(?m)^(?:file_?path|path|target_file|notebook_path|file|relative_workspace_path): (.+)$",
    re.IGNORECASE,
)
_EDITS = re.compile(r"(?i)edit|write|replace|create|patch|insert")
_SHELLS = re.compile(r"(?i)bash|shell|powershell|exec_command|terminal|run_command|execute")
_COMMAND = re.compile(r"(?m)^(?:command|cmd): (?:\[.*?-l?c\"?,? \"?)?([^\n]*)")
_LOOKS = re.compile(
    r"(?:cd \S+ ?&& ?)?(?:grep|rg|ls|find|which|diff|test|cat|head|git (?:diff|grep)|command)\b"
)
_EXIT = re.compile(  # a line of its own: what a command prints may speak of others
    r"(?im)^\W*(?:(?:process|command) )?exit(?:ed)?(?: with)?(?: exit)?[ _](?:code|status):? *"
    r"(-?\d+)\W*$"
)
_FAULT = re.compile(
    r"(?m)^.*(?:\b[1-9]\d* fail|FAIL|[Ee]rror[:\s]|fatal:|panic:|not found|Traceback|denied).*$"
)
_REFUSED = re.compile(r"(?i)user (?:doesn't want|rejected|cancelled|denied)|interrupted by user")
_TODO = re.compile(r"(?i)todo|update_plan")
_JSON = json.JSONDecoder()
_TEXTS = ("content", "step", "title", "description", "text")  # the names of what an item says
_BOX = re.compile(r"(?m)^(?:todos: )?[ \t]*[-*] \[ \] (.+)$")
_ABSOLUTE = re.compile(r"[/~]|[A-Za-z]:/")
_BOXED = re.compile(r"(?m)^(?:todos: )?[ \t]*[-*] \[[ xX]\].*$")
_THANKS = re.compile(
    r"(?i)\bthank|^\W*(?:perfect|great|awesome|nice|cool|excellent|ok(?:ay)?)\W*\Z"
)
_REQUEST = re.compile(
    r"(?i)(?:^|[.!,;:\n-])\W*(?:and |but |so )?(?:now|next|then|also|can|could|let|please) \w+ \w"
    r"|\b(?:please|also|too|as well)\b"
)
_CREATED = re.compile(r"Task #(\d+) created successfully: (.+)")
_UPDATED = re.compile(r"(?m)^(taskId|status): (\w+)$")
_IN_WORK = ("in_progress", "in-progress", "active")
_CLOSED = ("completed", "done", "cancelled", "canceled", "deleted")


def refresh(store: Store, text: TextIndex) -> None:
    """Write the handovers of the newest sessions in an index, for the start of a session."""
    known = {(each.session, each.size): each for each in handoff.read(store)}
    made = (_read_session(path, known) for path in _list_newest(text))
    handoff.write(store, [each for each in made if each])


def _read_session(path: str, known: Mapping[tuple[str, int], Handoff]) -> Handoff | None:
    size = files.get_size(path)
    name = os.path.basename(path).removesuffix(recall.SUFFIX)
    if (name, size) in known:
        return known[name, size]
    start = max(0, size - _TAIL)
    with logs.open_stream(path) as handle:
        handle.seek(start)
        start += len(handle.readline()) if start else 0
    return compose_handoff(list(recall.messages(path, start)), size)


def _list_newest(text: TextIndex) -> list[str]:
    paths: dict[str, None] = {}
    for document in text.list_prompts(_PROMPTS):
        path, host = (get_field(document, name) for name in ("source", "host"))
        if host in hosts.READERS and files.is_file(path):
            paths[path] = None
        if len(paths) == _SESSIONS:
            break
    return list(paths)


@dataclass
class _Work:
    edited: dict[str, None] = field(default_factory=dict)
    todos: list[tuple[bool, str]] = field(default_factory=list)
    tasks: dict[str, tuple[bool, str]] = field(default_factory=dict)
    command: str = ""
    fault: str = ""

    @property
    def open(self) -> list[str]:
        items = [*self.todos, *self.tasks.values()]
        return [text for _, text in sorted(items, key=lambda item: not item[0])]


def compose_handoff(messages: Sequence[Message], size: int = 0) -> Handoff | None:
    """Make the handover of a session from its last messages; None for a mere question."""
    said = [each for each in messages if not each.side]
    prompts = [each for each in said if each.role == "user"]
    if not prompts:
        return None
    work = _follow_tools(said)
    thanks = _find_thanks(said)
    thanked = prompts[-1].id in thanks
    if thanked:  # how it closed stands before that
        said = said[: said.index(prompts[-1])]
    prompts = [each for each in prompts if each.id not in thanks]
    if len(prompts) == 1 and not (work.edited or work.open or work.fault):
        return None
    last = next(each for each in reversed(said) if each.role != "tool")
    closing = last.text if last.role == "assistant" else ""
    sentences = _split_plain(_BOXED.sub("", _HEADING.sub("", closing)))
    following = [each for each in sentences if _is_open(each)]
    left = work.open or _BOX.findall(closing) or following[-2:]
    if not closing and not thanked:
        left = [*left, handoff.UNANSWERED]
    stopped = bool(closing) and said[-1].role == "tool" and not thanked
    if stopped:
        left = [*left, handoff.STOPPED]
    fault = f"{work.command}: {work.fault}" if work.fault else ""
    parts = {
        "asked": _describe_request(prompts),
        "last said" if stopped else "closed with": _summarise(sentences),
        "open": "; ".join(left),
        "files": _list_files(work.edited, messages),
        "failed": fault,
    }
    end = messages[-1]
    head = f"{end.host}, {end.at[:16].replace('T', ' ')} UTC" if end.at else end.host
    head = _shorten(flatten_text(f"{head}, session {end.session}"), _HEAD)
    text = _fit(head, {name: flatten_text(part) for name, part in parts.items() if part})
    days = _OPEN_DAYS if left or fault else _DONE_DAYS
    until = (epoch(end.at) or 0) + days * _DAY
    return Handoff(end.session, end.host, prompts[-1].project, end.at, until, text, size)


def _fit(head: str, parts: dict[str, str]) -> str:
    lines = [f"{name}: {_shorten(part, _ROOM[name])}" for name, part in parts.items()]
    text = f"{head}\n{quote_lines(chr(10).join(lines))}\n"
    while units(text) > _LONGEST:
        longest = max(range(len(lines)), key=lambda at: len(lines[at]))
        lines[longest] = _shorten(lines[longest], len(lines[longest]) - 10)
        text = f"{head}\n{quote_lines(chr(10).join(lines))}\n"
    return text


def _shorten(text: str, room: int) -> str:
    if len(text) <= room:
        return text
    head = text[: room - 1]
    space = head.rfind(" ")
    return f"{head[: space if space > room // 2 else len(head)].rstrip(' ,;:')}…"


def _split_plain(text: str) -> list[str]:
    plain = _LINE.sub("", _MARKUP.sub(r"\1", _FENCED.sub("", text)))
    return [each.strip() for each in split_sentences(plain) if any(map(str.isalnum, each))]


def _is_open(sentence: str) -> bool:
    plain = _QUOTED.sub("", sentence)
    return plain.endswith("?") or bool(_NEXT.search(plain))


def _summarise(sentences: list[str]) -> str:
    telling = [each for each in sentences if not (_FILLER.match(each) or each.endswith(":"))]
    return " ".join((telling or sentences)[:2])


def _describe_request(prompts: Sequence[Message]) -> str:
    texts = [" ".join(_split_plain(each.text)[:3]) or each.text.strip() for each in prompts]
    whole = [
        at
        for at, text in enumerate(texts)
        if len(text.split()) >= _FEWEST or (not text.isascii() and len(text) > 2 * _FEWEST)
    ]
    at = max(whole, default=0)
    later = [_shorten(each, 40) for each in texts[at + 1 :] if each][-1:]
    request = _shorten(texts[at], _ROOM["asked"] - sum(len(each) + 8 for each in later))
    return "; then: ".join([request, *later])


def _find_thanks(messages: Iterable[Message]) -> set[str]:
    found: set[str] = set()
    first = last = ""
    for each in messages:
        if each.role == "user":
            last, first = each.id, first or each.id
            if last != first and _is_thanks(each.text):
                found.add(last)
        elif each.role == "tool":
            found.discard(last)
    return found


def _is_thanks(text: str) -> bool:
    short = len(text.split()) <= _LONGEST_THANKS and "?" not in text
    return short and bool(_THANKS.search(text)) and not _REQUEST.search(text)


def _follow_tools(messages: Iterable[Message]) -> _Work:
    work = _Work()
    waiting: deque[Message] = deque()
    for each in messages:
        if each.role == "user":
            waiting.clear()
        elif each.role == "tool" and each.tool != "result":
            waiting.append(each)
            _note_call(work, each)
        elif each.role == "tool":
            called = waiting.popleft() if waiting else None
            created = _CREATED.search(each.text)
            if created and called is not None and called.tool == "TaskCreate":
                work.tasks[created[1]] = False, created[2]
            if called is not None and _SHELLS.search(called.tool):
                _note_result(work, called.text, each.text)
    return work


def _note_call(work: _Work, call: Message) -> None:
    name, text = call.tool, call.text
    paths = _PATCHED.findall(text)
    if _EDITS.search(name) and "memory" not in name:
        paths += _PATH.findall(text)[:1]
    for path in paths:
        work.edited.pop(path.strip(), None)
        work.edited[path.strip()] = None
    if _TODO.search(name):
        items = [*_parse_items(text)]
        if items or _BOXED.search(text) or text.endswith(": []"):  # all may be done
            found = [(status in _IN_WORK, what) for status, what in items if status not in _CLOSED]
            work.todos = found + [(False, item) for item in _BOX.findall(text)]
    updated = dict(_UPDATED.findall(text)) if name == "TaskUpdate" else {}
    task = work.tasks.get(updated.get("taskId", ""))
    if task and updated.get("status") in _CLOSED:
        del work.tasks[updated["taskId"]]
    elif task:
        work.tasks[updated["taskId"]] = updated.get("status") in _IN_WORK, task[1]


def _parse_items(text: str) -> Iterator[tuple[str, str]]:
    """Yield (status, text) of the items of a list, from a tool's arguments, which may be cut."""
    at = text.find("{")
    while at >= 0:
        try:
            item, end = _JSON.raw_decode(text, at)
        except (ValueError, RecursionError):
            item, end = {}, at + 1
        what = next((item[key] for key in _TEXTS if isinstance(item.get(key), str)), "")
        if what and isinstance(item.get("status"), str):
            yield item["status"], what
        at = text.find("{", end)


def _note_result(work: _Work, call: str, result: str) -> None:
    found = _COMMAND.search(call)
    command = (found[1] if found else call).strip().strip('"]')
    if _LOOKS.match(command) or not command:
        return
    code = _EXIT.search(result)
    failed = bool(code and int(code[1])) and not _REFUSED.search(result)
    fault = _FAULT.search(result, code.end()) if failed and code else None
    work.command = _shorten(command, 60)
    work.fault = (
        _shorten(fault[0].strip(), 60)
        if fault
        else f"exit code {code[1]}"
        if failed and code
        else ""
    )


def _list_files(edited: Iterable[str], messages: Iterable[Message]) -> str:
    """List the files below the project that were edited, the latest first, as many as fit."""
    projects = {each.project.replace("\\", "/").rstrip("/") for each in messages if each.project}
    folders = sorted((f"{each}/" for each in projects), key=len)  # the project before its folders
    found: dict[str, None] = {}
    for path in (each.replace("\\", "/") for each in reversed([*edited])):
        top = next((top for top in folders if path.startswith(top)), "")
        if top or not _ABSOLUTE.match(path):
            found[path[len(top) :]] = None
    names, room = [*found], _ROOM["files"] - 10
    shown = 0
    while shown < len(names) and (not shown or len(", ".join(names[: shown + 1])) <= room):
        shown += 1
    more = len(names) - shown
    return ", ".join(names[:shown]) + (f", {more:,} more" if more else "")
