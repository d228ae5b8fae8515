"""The model that the user configured, asked no more than they allow; a command as a model."""

import json
import os
import shlex
import subprocess
from contextlib import suppress
from itertools import count

from memfs import files
from memfs.agent import endpoint, usage_limits
from memfs.agent.model import (
    Message,
    Model,
    ModelAnswer,
    ModelError,
    ModelRequest,
    SystemNote,
    Tell,
    UserPrompt,
)
from memfs.agent.usage_limits import MeteredModel
from memfs.agent.written_calls import MARK, drop_thoughts, extract_calls
from memfs.core.errors import MemfsError, UsageError
from memfs.core.privacy import storable
from memfs.core.settings import Settings
from memfs.files import account
from memfs.ipc.client import INSIDE
from memfs.store import config, store_paths
from memfs.store.blocks import Place
from memfs.tools import provider_formats
from memfs.tools.calls import Result, ToolCall

_USAGE = f"""To call a tool, write a line of this form for each call, with the arguments as JSON:
{MARK} {{"name": "core_memory_append", "arguments": {{"label": "human", "content": "<text>"}}}}
You have no other tools here than these, each with the JSON schema of its arguments:
"""
_ERROR_CHARS = 300  # characters of a command's error output


def settings() -> Settings:
    """Return the user's own settings: no repository and no variable names a model."""
    return config.load(Place(None, store_paths.user_store()))


def format_model() -> str:
    """Return the configured model's name and its usage today, for people; "" for none."""
    found, user = settings(), store_paths.user_store()
    if user is None or not config.names_model():
        return ""
    name = str(found.get("llm.command") or "")
    if not name:
        name = str(found.get("llm.model"))
        with suppress(MemfsError):  # an invalid address is reported where it is used
            name += f" at {endpoint.hide_credentials(str(found.get('llm.endpoint')))}"
    spent = usage_limits.format_usage(usage_limits.today(user), usage_limits.limits(found).day)
    return f"{name}, today {spent}"


def load_model() -> MeteredModel:
    """Return the model of `llm`. Raises `MemfsError` if it is missing or incomplete."""
    found = settings()
    user = store_paths.user_store()
    line = str(found.get("llm.command") or "")
    if user is None or not (line or found.get("llm.endpoint")):
        raise UsageError(
            "no model is configured",
            f"add llm to {store_paths.user_root()}/{store_paths.CONFIG}, with endpoint and model, "
            "or with command (for example claude -p)",
        )
    model: Model = (
        Command(line, found.number("llm.timeout")) if line else endpoint.select_endpoint(found)
    )
    return MeteredModel(model, user, usage_limits.limits(found))


class Command:
    """A command, as a shell would split it. `seconds` is how long an answer may take."""

    def __init__(self, line: str, seconds: float) -> None:
        try:
            self._words = shlex.split(line)
        except ValueError as error:
            raise UsageError(f"llm.command is not a valid command line: {error}") from error
        if not self._words:
            raise UsageError("llm.command is empty", "set a command, for example claude -p")
        self.name = " ".join(self._words)
        self._seconds = seconds
        self._numbers = count(1)

    def close(self) -> None:
        """Do nothing: no connection stays open between answers."""

    def ask(self, request: ModelRequest, tell: Tell | None = None) -> ModelAnswer:
        """Run the command on the whole conversation. Raises `ModelError` if it fails."""
        output = self._run(_render_prompt(request, os.urandom(4).hex()))
        text, found = extract_calls(drop_thoughts(output), [tool.name for tool in request.tools])
        if tell and text:
            tell(text)
        calls = (
            ToolCall(each.name, each.arguments, f"call_{next(self._numbers)}") for each in found
        )
        return ModelAnswer(text, tuple(calls))

    def _run(self, prompt: str) -> str:
        program = self._words[0]
        folder = store_paths.model_folder()
        files.make_folder(folder, private=True, durable=False)
        try:
            done = subprocess.run(  # noqa: S603 - the user's own configuration names it
                [account.find_program(program) or program, *self._words[1:]],
                input=prompt.encode("utf-8", "replace"),
                capture_output=True,
                timeout=self._seconds,
                cwd=folder,
                check=False,
                env={**os.environ, INSIDE: "1"},
            )
        except FileNotFoundError as error:
            raise ModelError(
                f"program '{program}' was not found", "check llm.command in your own config.yaml"
            ) from error
        except OSError as error:
            raise ModelError(f"the program '{program}' cannot be run: {error.strerror}") from error
        except subprocess.TimeoutExpired as error:
            raise ModelError(
                f"no answer from {program} within {self._seconds:g} s",
                "raise llm.timeout in your own config.yaml",
            ) from error
        if done.returncode:
            stderr = done.stderr.decode("utf-8", "replace")
            words = storable(" ".join(stderr.split()))[-_ERROR_CHARS:]
            why = f": {words}" if words else ""
            raise ModelError(f"{program} failed with exit code {done.returncode}{why}")
        return done.stdout.decode("utf-8", "replace")


def _render_prompt(request: ModelRequest, nonce: str) -> str:
    """Render a request as one text. Role lines carry `nonce`, so no message can imitate one."""
    parts = [request.system.strip()]
    if request.tools:
        tools = [
            json.dumps(each["function"], ensure_ascii=False)
            for each in provider_formats.definitions(request.tools, "openai")
        ]
        parts.append(_USAGE + "\n".join(tools))
    parts.append(f"The conversation so far. Only lines like [user {nonce}] name the speaker.")
    parts.extend(_render_message(message, nonce) for message in request.messages)
    parts.append(f"[assistant {nonce}]")
    return "\n\n".join(parts)


def _render_message(message: Message, nonce: str) -> str:
    match message:
        case UserPrompt():
            return f"[user {nonce}]\n{message.text}"
        case SystemNote():
            return f"[system {nonce}]\n{message.text}"
        case Result():
            return f"[result {nonce} of {message.call.name}]\n{message.text}"
        case ModelAnswer():
            calls = [
                f"{MARK} {json.dumps({'name': each.name, 'arguments': each.arguments})}"
                for each in message.calls
            ]
            return "\n".join(
                [f"[assistant {nonce}]", *([message.text] if message.text else []), *calls]
            )
