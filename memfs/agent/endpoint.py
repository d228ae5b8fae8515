"""A model behind an OpenAI-compatible endpoint: chat completions, streamed, by OpenAI's client."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from memfs.agent.model import (
    Message,
    ModelAnswer,
    ModelError,
    ModelRequest,
    RefusedError,
    Tell,
    TokenUsage,
    UserPrompt,
)
from memfs.agent.written_calls import StreamedText, drop_thoughts, extract_calls
from memfs.core.errors import MemfsError, UsageError
from memfs.core.parts import name_extra
from memfs.core.privacy import excerpt
from memfs.core.settings import Settings
from memfs.tools import provider_formats
from memfs.tools.calls import Result, ToolCall

_DATA, _DONE = "data:", "[DONE]"

_WAITS = (1.0, 2.0, 4.0, 8.0, 16.0)  # seconds before asking again, where the endpoint names none
_LONGEST_WAIT = 60.0
_RETRIED = (408, 409, 429)  # statuses; and all from 500 on
_ERROR_CHARS = 300  # characters of an endpoint's error message


def select_endpoint(
    settings: Settings, url: str = "", name: str = "", key_env: str = "", seconds: int = 0
) -> Endpoint:
    """Return the endpoint of the arguments, else of `llm` in the user's own configuration.

    The configured key goes to the configured endpoint alone.
    """
    configured = str(settings.get("llm.endpoint") or "")
    url, named = url or configured, name or str(settings.get("llm.model") or "")
    for what, value in (("endpoint", url), ("model", named)):
        if not value:
            raise UsageError(
                f"no {what} is set", f"add --{what}, or set llm.{what} in your own config.yaml"
            )
    if not key_env and url == configured:
        key_env = str(settings.get("llm.key_env") or "")
    key = os.environ.get(key_env, "") if key_env else ""
    if key_env and not key:
        raise UsageError(
            f"the environment variable {key_env} is not set", "set the variable to the API key"
        )
    return Endpoint(url, named, key, seconds or settings.number("llm.timeout"))


class Endpoint:
    """One model of an endpoint; `seconds` is how long an answer may take."""

    def __init__(self, url: str, name: str, key: str, seconds: float) -> None:
        try:
            import openai  # an extra that may be missing
        except ImportError as error:
            raise MemfsError("package 'openai' is not installed", name_extra("agent")) from error
        self._where = hide_credentials(url)
        self.name = name
        self._seconds = seconds
        self._has_answered = False
        self._limit_key = "max_tokens"  # the endpoint's key for the limit of an answer
        self._note_role = "system"  # the role in which our notes are sent
        self._numbers = count(1)  # for calls that came without an id
        self._openai = openai
        # Set here: the client would take these from variables that are meant for another endpoint.
        self._client = openai.OpenAI(
            api_key=key or "none",
            base_url=url,
            max_retries=0,
            timeout=seconds,
            default_headers={"Authorization": f"Bearer {key or 'none'}"},
            admin_api_key="",
        )
        self._client.organization = self._client.project = None

    def close(self) -> None:
        """End the connection."""
        self._client.close()

    def ask(self, request: ModelRequest, tell: Tell | None = None) -> ModelAnswer:
        """Return the next answer; an endpoint that is busy is asked again, up to five times.

        One that refuses what some do not support (a system message that is not the first one, the
        name of the limit) is asked without it, from then on.
        """
        names = [tool.name for tool in request.tools]
        streamed = StreamedText(tell, names) if tell else None
        while True:
            try:
                body = self._build_body(request)
                answer = self._send_with_retries(body, streamed.add if streamed else None)
                break
            except RefusedError as error:
                if not self._adapt(error.message):
                    raise
        if not answer.calls:  # some servers leave calls in the text
            text, calls = extract_calls(answer.text, names)
            if calls:
                answer = replace(answer, text=text, calls=tuple(map(self._name_call, calls)))
        if streamed:
            streamed.finish(answer.text)
        return answer

    def _build_body(self, request: ModelRequest) -> dict[str, Any]:
        found: dict[str, Any] = {
            "model": self.name,
            "messages": [
                {"role": "system", "content": _clean(request.system)},
                *(_encode_message(message, self._note_role) for message in request.messages),
            ],
        }
        if request.tools:
            found["tools"] = provider_formats.definitions(request.tools, "openai")
        if request.most and self._limit_key:
            found[self._limit_key] = request.most
        return found

    def _adapt(self, problem: str) -> bool:
        """Stop sending what an endpoint does not support; False if `problem` names no such part."""
        problem = problem.lower()
        if self._limit_key and self._limit_key in problem:
            self._limit_key = {"max_tokens": "max_completion_tokens"}.get(self._limit_key, "")
            return True
        refused = "system" in problem and ("begin" in problem or "role" in problem)
        if refused and self._note_role == "system":
            self._note_role = "user"
            return True
        return False

    def _send_with_retries(self, body: dict[str, Any], tell: Tell | None) -> ModelAnswer:
        for wait in (*_WAITS, None):
            try:
                answer = self._send_streaming(body, tell) if tell else self._send(body)
            except self._openai.APIStatusError as error:
                again = error.status_code in _RETRIED or error.status_code >= 500
                seconds = _parse_retry_after(error.response.headers.get("retry-after"))
                pause = wait if seconds is None else seconds
                spent = error.code == "insufficient_quota"
                if not again or spent or wait is None or pause is None or pause > _LONGEST_WAIT:
                    raise self._describe_error(error.status_code, error.body) from error
                time.sleep(pause)
            except self._openai.APITimeoutError as error:
                raise ModelError(
                    f"no answer from {self._where} within {self._seconds:g} s",
                    "raise --timeout, or llm.timeout in your own config.yaml",
                ) from error
            except self._openai.APIConnectionError as error:
                if not self._has_answered or wait is None:
                    raise ModelError(
                        f"cannot reach {self._where}: {error.__cause__ or error}",
                        "check that the server is running and the address is right",
                    ) from error
                time.sleep(wait)  # it was there before
            except self._openai.OpenAIError as error:
                raise ModelError(excerpt(f"{self._where}: {error}", _ERROR_CHARS)) from error
            else:
                self._has_answered = True
                return answer
        raise AssertionError("the last wait cannot be None")

    def _send(self, body: dict[str, Any]) -> ModelAnswer:
        return self._parse_text(self._client.post("/chat/completions", cast_to=str, body=body))

    def _send_streaming(self, body: dict[str, Any], tell: Tell) -> ModelAnswer:
        """Ask for a streamed answer; one that comes whole nevertheless is read as that."""
        streaming = {**body, "stream": True, "stream_options": {"include_usage": True}}
        create = self._client.chat.completions.with_streaming_response.create
        with create(**streaming) as response:
            if "event-stream" not in response.headers.get("content-type", ""):
                return self._parse_text(response.read().decode("utf-8", "replace"))
            streamed = StreamedAnswer(tell)
            try:
                for line in response.iter_lines():
                    streamed.feed_line(line)
            except Exception as error:  # the connection; the client raises several classes
                raise ModelError(
                    f"the connection to {self._where} broke while it was answering: {error}"
                ) from error
        found = streamed.build_completion()
        if not found:
            raise ModelError(f"{self._where} sent an empty answer", "run the command again")
        return self._parse(found)

    def _parse_text(self, text: str) -> ModelAnswer:
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            start = excerpt(" ".join(text.split()), 80)
            raise ModelError(
                f"{self._where} does not answer with JSON: {start!r}",
                "check the address: most end in /v1",
            ) from error
        return self._parse(found)

    def _parse(self, found: Any) -> ModelAnswer:
        """Read a completion, whose form some servers do not keep to."""
        if isinstance(found, dict) and found.get("error"):  # with 200, as some gateways do
            raise self._describe_error(400, found["error"])
        message = _get_choice(found, "message")
        if message is None:
            raise ModelError(
                f"{self._where} answers with JSON that is not a chat completion",
                "check the address: most end in /v1",
            )
        calls = provider_formats.calls_in({"tool_calls": message.get("tool_calls")})
        named = tuple(self._name_call(each.call) for each in calls)
        content, usage = message.get("content"), found.get("usage")
        if isinstance(content, list):
            parts = (part.get("text") for part in content if isinstance(part, dict))
            content = "".join(str(part or "") for part in parts)
        counts = usage if isinstance(usage, dict) else {}
        tokens = (counts.get(name) for name in ("prompt_tokens", "completion_tokens"))
        return ModelAnswer(
            drop_thoughts(content if isinstance(content, str) else ""),
            named,
            TokenUsage(*(count if isinstance(count, int) else 0 for count in tokens)),
        )

    def _name_call(self, call: ToolCall) -> ToolCall:
        return call if call.id else replace(call, id=f"call_{next(self._numbers)}")

    def _describe_error(self, status: int, body: object) -> ModelError:
        detail = body.get("message") or body.get("error") if isinstance(body, dict) else body
        detail = detail.get("message") if isinstance(detail, dict) else detail
        words = excerpt(" ".join(str(detail or "").split()), _ERROR_CHARS)
        message = f"{self._where} answers with status {status}" + (f": {words}" if words else "")
        if status in (400, 413, 422):
            return RefusedError(message, f"check that {self.name} supports tools")
        hints = {
            401: "check the API key in the variable that --key-env or llm.key_env names",
            403: "use a key that is allowed to use this model",
            404: f"check the model name {self.name} and the address: most end in /v1",
            429: "try again later: the endpoint is busy, or the account has no quota left",
        }
        return ModelError(message, hints.get(status, "try again later" if status >= 500 else ""))


def hide_credentials(url: str) -> str:
    """Return an address without its user and password. Raises `UsageError`."""
    try:
        parts = urlsplit(url)
        host = parts.hostname if parts.scheme in ("http", "https") else ""
    except ValueError:  # brackets that are not closed
        host = ""
    if not host:
        raise UsageError(f"{url!r} is not a web address", "use the form http://localhost:11434/v1")
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _encode_message(message: Message, note: str) -> Mapping[str, object]:
    text = _clean(message.text)
    match message:
        case ModelAnswer():
            if not message.calls:
                return {"role": "assistant", "content": text}
            calls = [_encode_call(call) for call in message.calls]
            return {"role": "assistant", "content": text or None, "tool_calls": calls}
        case Result():
            return {"role": "tool", "tool_call_id": _clean(message.call.id), "content": text}
        case _:
            return {"role": "user" if isinstance(message, UserPrompt) else note, "content": text}


def _encode_call(call: ToolCall) -> dict[str, object]:
    """Return a call in OpenAI's format; arguments that are no JSON object become an empty one.

    Many servers accept only JSON objects. The model got a correction for the invalid call.
    """
    arguments = call.arguments if isinstance(call.arguments, dict) else {}
    function = {"name": _clean(call.name), "arguments": json.dumps(arguments)}
    return {"id": _clean(call.id), "type": "function", "function": function}


def _get_choice(found: object, key: str) -> dict[str, Any] | None:
    """Return what the first choice of a completion has at a key, None if it is no object."""
    choices = found.get("choices") if isinstance(found, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    value = first.get(key) if isinstance(first, dict) else None
    return value if isinstance(value, dict) else None


def _parse_retry_after(header: str | None) -> float | None:
    """Return the seconds of a Retry-After header, None if it is missing or a date."""
    try:
        return max(0.0, float(header or ""))
    except ValueError:
        return None


def _clean(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode()


class StreamedAnswer:
    """Joins the chunks of an answer, and passes its text on as it comes."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._text: list[str] = []
        self._calls: dict[int, dict[str, str]] = {}
        self._usage: object = None
        self._error: object = None

    def feed_line(self, line: str) -> None:
        """Add the chunk of one line; a line that is no chunk is ignored."""
        if not line.startswith(_DATA) or line[len(_DATA) :].strip() == _DONE:
            return
        try:
            chunk = json.loads(line[len(_DATA) :])
        except (ValueError, RecursionError):
            return
        if not isinstance(chunk, dict):
            return
        self._usage = chunk.get("usage") or self._usage
        self._error = chunk.get("error") or self._error
        delta = _get_choice(chunk, "delta") or {}
        text = delta.get("content")
        if isinstance(text, str) and text:
            self._text.append(text)
            self._tell(text)
        calls = delta.get("tool_calls")
        for each in calls if isinstance(calls, list) else []:
            if isinstance(each, dict):
                self._add(each)

    def _add(self, piece: dict[str, object]) -> None:
        """Add a piece to the call it belongs to; some servers give calls no index."""
        index = piece.get("index")
        place = index if isinstance(index, int) else len(self._calls)
        call = self._calls.setdefault(place, {"id": "", "name": "", "arguments": ""})
        call["id"] = str(piece.get("id") or call["id"])
        function = piece.get("function")
        if isinstance(function, dict):
            call["name"] += str(function.get("name") or "")
            value = function.get("arguments")
            call["arguments"] += value if isinstance(value, str) else json.dumps(value or {})

    def build_completion(self) -> dict[str, object] | None:
        """Return the whole completion, or the error that came; None if nothing came."""
        if self._error:
            return {"error": self._error}
        if not self._text and not self._calls:
            return None
        calls = [{"id": each["id"], "function": each} for _, each in sorted(self._calls.items())]
        message = {"content": "".join(self._text), "tool_calls": calls}
        return {"choices": [{"message": message}], "usage": self._usage}
