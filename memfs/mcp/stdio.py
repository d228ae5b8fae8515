"""Standard input and output of the server, and the tool by which hosts call hooks. Hot path."""

import os

from memfs import hosts
from memfs.ipc import client
from memfs.ipc.client import QUICK, HookCall
from memfs.mcp import messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TOOL = hosts.HOOK_TOOL
HOST = "host"  # the argument that says which host's hook it is
QUIET = "{}"  # no output: for an empty text Claude Code tells its model that a hook succeeded


def answer_hook(arguments: "Mapping[str, object]") -> str:
    """Return the tool's text for a hook. Errors are lines in the log."""
    from memfs.ops import host_event  # where the service does not answer
    from memfs.store import hook_log  # likewise

    source = [str(arguments.get("cwd") or "."), f"{arguments.get(HOST, '')} hook"]
    output: list[bytes] = []
    try:
        payload = {key: value for key, value in arguments.items() if key != HOST}
        call = HookCall([str(arguments.get(HOST, "")), "mcp"], messages.encode(payload))
        words, data = call.list_words(), call.read()
        found = client.ask("hook", words, data, QUICK, call=call, long_lived=True)
        if found is not None:
            return decode_answer(found)
        host_event.run(call, source, output.append, lambda _: None)
    except Exception as error:  # noqa: BLE001 - a hook never disturbs a session
        hook_log.log_error(source[0], source[1], error)
        return QUIET
    return decode_answer(b"".join(output))


def decode_answer(answer: bytes) -> str:
    """Return the output of a hook as the tool's text."""
    return answer.decode("utf-8", "replace") or QUIET


class StdioStreams:
    """The lines of standard input and output.

    File descriptors 0 and 1 become the null device and standard error: what a tool or a child
    process reads or prints does not mix with the protocol's lines.
    """

    def __init__(self) -> None:
        import _thread  # `threading` costs 3 ms

        null = os.open(os.devnull, os.O_RDWR)
        self._input = os.dup(0)
        self._output = os.dup(1)
        os.dup2(null, 0)
        os.dup2(2, 1)
        os.close(null)
        self._writing = _thread.allocate_lock()

    def read_lines(self) -> "Iterator[bytes]":
        """Yield the incoming lines until the end. Raises `OSError` if the client broke off."""
        with os.fdopen(self._input, "rb") as lines:
            yield from lines

    def write(self, message: "Mapping[str, object]") -> None:
        """Write a message as a line, for any thread. Raises `OSError` if the client is gone."""
        rest = memoryview(messages.encode(message) + b"\n")
        with self._writing:
            while rest:
                rest = rest[os.write(self._output, rest) :]
