"""Gemini CLI. Hot path."""

from memfs.core import events
from memfs.core.events import Event, Reply
from memfs.hosts.base import Entries, Host, ToolNames, dump_reply

_REPLACED = b'{"$set":{"messages":'  # a line of the transcript that replaces the context
_KINDS = {
    "SessionStart": events.START,
    "BeforeAgent": events.PROMPT,
    "AfterAgent": events.STOP,
    "SessionEnd": events.END,
    "BeforeTool": events.BEFORE,
    "AfterTool": events.AFTER,
    "PreCompress": events.COMPACT,
}


class _Gemini(Host):
    NAME = "gemini"
    TITLE = "Gemini CLI"
    WINDOW = 1_048_576
    READS = (("gemini",),)
    ADDS = 640
    COMMAND = "gemini"
    HOME = ".gemini"
    IGNORES = ("a byte order mark", "a trailing comma")  # it does not even start
    VARIABLES = ("GEMINI_CLI",)
    FOLDERS = ("GEMINI_CLI_HOME",)
    IS_IMITATED = True
    KINDS = _KINDS
    TOOLS = ToolNames(
        ("write_file", "replace", "edit"), ("read_file", "read_many_files"), ("run_shell_command",)
    )
    ASKS = True

    def parse_event(self, payload: dict[str, object]) -> Event | None:
        found = super().parse_event(payload)
        if found and "</hook_context>" in found.prompt:  # a session start's context is before it
            found.prompt = found.prompt.rpartition("</hook_context>")[2].strip()
        if found and found.kind == events.STOP and _is_compressed(found.transcript):
            found.kind = events.COMPACT
        return found

    def format_reply(self, event: Event, reply: Reply) -> str:
        """Return the JSON of a reply; plain text would be shown to the person."""
        if reply.refusal and event.kind == events.BEFORE:
            decision = "ask" if reply.asks else "deny"
            return dump_reply({"decision": decision, "reason": reply.refusal})
        return super().format_reply(event, reply)

    def list_entries(self) -> list[tuple[Entries, ...]]:
        return [("settings.json", "gemini/hooks.json", "gemini/tools.json")]

    def find_folder(self, home: str) -> str:
        from memfs.files.account import find_named_folder

        return f"{find_named_folder('GEMINI_CLI_HOME') or home}/.gemini"


def _is_compressed(transcript: str) -> bool:
    """Return whether a compression removed the brief from the model's context.

    Only the transcript shows a compression: its hook runs in every turn, before it is known whether
    there is anything to compress. (So we use that hook only for one that a person asked for.)
    """
    from memfs.core.brief_layout import TITLE

    try:
        with open(transcript, "rb") as handle:
            data = handle.read()
    except (OSError, ValueError):
        return False
    return -1 < data.rfind(TITLE.encode()) < data.rfind(_REPLACED)


HOST = _Gemini()
