"""`memfs`: hooks and the MCP server start at once, other commands go through the group."""

import io
import os
import sys


def main() -> int:
    """Run the command line and return the exit code.

    0: done, 1: refused, 2: usage, 70: a bug, 130: Ctrl-C.
    """
    _open_streams()
    _speak_utf8()
    if sys.argv[1:2] == ["hook"] and len(sys.argv) in (3, 4) and sys.argv[2][:1] != "-":
        from memfs.hook.main import main as hook  # a host waits: without click
        from memfs.ipc.client import HookCall  # likewise

        return hook(HookCall(sys.argv[2:]))
    try:
        if sys.argv[1:2] == ["mcp"] and (folder := _find_folder(sys.argv[2:])):
            return _serve(folder)
        from memfs.cli import group  # with click, which hooks do without

        return group.run(group.group())
    except (KeyboardInterrupt, RuntimeError) as error:  # while it begins, or ends
        from memfs.core.errors import is_stop  # where something is wrong

        if not is_stop(error):
            raise
        return 130


def run_process() -> int:
    """Run the command line, and end this process with its exit code.

    Python would take its modules apart first: 15 ms that a person or an assistant waits for. What
    else it does at the end is done here. Returns the code where there are threads to wait for.
    """
    code = main()
    threads = sys.modules.get("threading")
    if threads is not None and threads.active_count() > 1:
        return code
    import atexit  # where nothing is left but that

    atexit._run_exitfuncs()  # noqa: SLF001 - the only name it has
    for stream, lost in ((sys.stdout, 1), (sys.stderr, 0)):
        try:
            stream.flush()
        except (OSError, ValueError):  # a full disk: what was printed is not all there
            code = code or lost
    os._exit(code)


def _serve(folder: str) -> int:
    """Serve MCP. A host waits: without click, and without collections before the first call."""
    import gc  # of this command alone

    gc.disable()
    from memfs import __version__  # likewise
    from memfs.mcp import server  # likewise

    try:
        server.run(folder, "", __version__)
    except Exception as error:  # noqa: BLE001 - told as by any other command
        from memfs.cli import group  # where something is wrong

        return group.report_error(error)
    return 0


def _find_folder(words: list[str]) -> str:
    """Return the folder to serve by the words after `mcp`, as assistants start it.

    Returns "" for other words, and for a folder that is not there: the group reports that.
    """
    try:
        if words[:1] == ["--folder"] and len(words) == 2 and words[1][:1] not in ("", "-"):
            return os.path.abspath(words[1]) if os.path.isdir(words[1]) else ""
        if not words and os.environ.get("PLUGIN_ROOT"):
            from memfs.hosts import caller  # where a plugin starts this

            return caller.find_folder()
        return "" if words else os.getcwd()
    except OSError:
        return ""


def _open_streams() -> None:
    """Open the null device for standard streams that are closed: files would get their numbers."""
    while (null := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(null, True)
    os.close(null)
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def _speak_utf8() -> None:
    """Decode arguments as UTF-8, and replace characters that the streams cannot encode."""
    if sys.getfilesystemencoding() != "utf-8":
        sys.argv = [os.fsencode(word).decode("utf-8", "surrogateescape") for word in sys.argv]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
