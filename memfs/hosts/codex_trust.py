"""Which of our hooks Codex runs: it skips, without a word, those that its user did not trust yet.

It talks to Codex's own app server (`codex app-server`), a line of JSON for each message.
"""

import json
import shutil
import subprocess
from collections.abc import Collection, Iterator
from contextlib import suppress
from threading import Timer
from typing import Any, NamedTuple, Self

from memfs.core.errors import StoreError
from memfs.hosts import PLUGIN

_PLUGIN = f"{PLUGIN}memfs"
_TIMEOUT = 15  # seconds for all of it
_SKIPPED = ("untrusted", "modified")


class CodexHook(NamedTuple):
    """A hook of ours in Codex: `digest` is the hash to trust, `runs` whether it is trusted."""

    key: str
    digest: str
    runs: bool


def hooks(folder: str, commands: Collection[str]) -> list[CodexHook]:
    """List our hooks that Codex has for a folder.

    They are those of our plugin, and those with our very `commands`. Raises `StoreError` where it
    cannot be asked.
    """
    with _Server(folder) as server:
        return list(_select_ours(server.ask("hooks/list", cwds=[folder]), commands))


def trust(folder: str, commands: Collection[str]) -> int:
    """Have Codex run our hooks (see `hooks`); return how many it did not run before.

    Raises `StoreError` where it cannot be asked, or does not do it.
    """
    with _Server(folder) as server:
        found = _select_ours(server.ask("hooks/list", cwds=[folder]), commands)
        skipped = [hook for hook in found if not hook.runs]
        if skipped:
            state = {hook.key: {"trusted_hash": hook.digest} for hook in skipped}
            edit = {"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"}
            server.ask("config/batchWrite", edits=[edit])
        return len(skipped)


def _select_ours(answer: dict[str, Any], commands: Collection[str]) -> Iterator[CodexHook]:
    for place in answer.get("data") or ():
        for hook in place.get("hooks") or ():
            if hook.get("command") in commands or hook.get("pluginId") == _PLUGIN:
                runs = hook.get("trustStatus") not in _SKIPPED
                yield CodexHook(str(hook.get("key")), str(hook.get("currentHash")), runs)


class _Server:
    """A running `codex app-server`."""

    def __init__(self, folder: str) -> None:
        program = shutil.which("codex")
        if program is None:
            raise StoreError(
                "cannot check or trust the hooks: the program 'codex' is not on the PATH",
                "start Codex and trust the hooks yourself with /hooks",
            )
        self._process = subprocess.Popen(  # noqa: S603 - the assistant's own program
            [program, "app-server"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._clock = Timer(_TIMEOUT, self._process.kill)
        self._to, self._from = self._process.stdin, self._process.stdout
        self._last_id = 0

    def __enter__(self) -> Self:
        self._clock.start()
        try:
            self.ask("initialize", clientInfo={"name": "memfs", "title": "memfs", "version": "1"})
            self._send({"method": "initialized"})
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def _stop(self) -> None:
        self._clock.cancel()
        self._process.kill()
        with suppress(BrokenPipeError), self._process:  # what was not read of ours is lost
            pass

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        self._last_id += 1
        self._send({"id": self._last_id, "method": method, "params": params})
        for line in self._from or ():
            with suppress(ValueError):
                found = json.loads(line)
                if isinstance(found, dict) and found.get("id") == self._last_id:
                    if isinstance(found.get("result"), dict):
                        result: dict[str, Any] = found["result"]
                        return result
                    break
        raise StoreError(
            f"cannot check or trust the hooks: Codex does not answer '{method}'",
            "start Codex and trust the hooks yourself with /hooks",
        )

    def _send(self, message: dict[str, object]) -> None:
        if self._to is not None:
            with suppress(BrokenPipeError):  # it ended: there is no answer either
                self._to.write(json.dumps(message).encode() + b"\n")
                self._to.flush()
