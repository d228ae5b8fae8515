"""Hook events and replies, in terms common to all hosts. Hot path."""

START = "start"  # a session starts, resumes, was cleared or compacted
AGENT = "agent"  # a subagent starts: it has a context of its own
PROMPT = "prompt"
STOP = "stop"  # the assistant finished its turn
COMPACT = "compact"  # the host is about to compact its context, or did
END = "end"
BEFORE = "before"  # a tool of the host is about to read or write files, or to run a command
AFTER = "after"  # it did
OTHER = "other"
REVIEW = "[memfs review]"  # the prefix of a prompt that asks for a review of the session


class Event:
    """One hook event. `source` is why a session starts: startup, resume, clear, compact, fork.

    `again`: the turn that ends was one that a hook had asked for; `answer` is what the assistant
    said last in it, where the host tells ("" for one that does not).

    `call` is the id of the tool's call, or of the subagent, where the host tells.
    `files` are those that a tool of the host writes, `opened` those that it reads or writes, and
    `command` is the shell line that it runs. `agent` is the id of the subagent whose call it is.
    `tools`: the host offers ours (MCP). `local` is the local folder of the store that serves it,
    once that is found. `late`: the service was asked for the reply, and did not answer in time.
    """

    __slots__ = (
        *("again", "agent", "answer", "call", "command", "cwd", "files", "host", "kind", "late"),
        *("local", "name", "opened", "prompt", "session", "source", "tools", "transcript"),
    )

    def __init__(
        self,
        host: str,
        kind: str,
        name: str,
        session: str,
        cwd: str,
        transcript: str = "",
        source: str = "",
        prompt: str = "",
        files: tuple[str, ...] = (),
    ) -> None:
        self.host = host
        self.kind = kind
        self.name = name
        self.session = session
        self.cwd = cwd
        self.transcript = transcript
        self.source = source
        self.prompt = prompt
        self.files = self.opened = files
        self.tools = False
        self.again = self.late = False
        self.agent = self.answer = self.call = self.command = ""
        self.local = ""


class Reply:
    """The answer to a host: `context` for the model, `notice` for the person in front of it.

    `refusal` is the reason why the model may not do what it is about to do, or with `asks` why the
    person is to be asked. `more` asks it to go on at the end of its turn. The tags with which hosts
    frame text are escaped in all of them.
    """

    __slots__ = ("asks", "context", "more", "notice", "refusal")

    def __init__(
        self,
        context: str = "",
        notice: str = "",
        refusal: str = "",
        more: str = "",
        *,
        asks: bool = False,
    ) -> None:
        self.asks = asks
        self.more = _defuse_text(more)
        self.context = _defuse_text(context)
        self.notice = _defuse_text(notice)
        self.refusal = _defuse_text(refusal)


def _defuse_text(text: str) -> str:
    if not text:
        return ""
    from memfs.core.escaping import defuse  # most hooks say nothing

    return defuse(text)
