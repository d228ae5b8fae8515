"""An answer that comes piece by piece, as OpenAI sends it: `data: {chunk}` on lines."""

from __future__ import annotations

import json

from memfs.agent.model import ModelError, Tell

_DATA, _DONE = "data:", "[DONE]"


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
        choices = chunk.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        delta = first.get("delta") if isinstance(first, dict) else None
        if not isinstance(delta, dict):
            return
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

    def build_completion(self, where: str) -> str:
        """Return the JSON of the whole completion. Raises `ModelError` if nothing came."""
        if self._error:
            return json.dumps({"error": self._error})
        if not self._text and not self._calls:
            raise ModelError(f"{where} answered nothing", "try again")
        calls = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": call["arguments"] or "{}"},
            }
            for _, call in sorted(self._calls.items())
        ]
        message = {"role": "assistant", "content": "".join(self._text), "tool_calls": calls}
        found = {"choices": [{"message": message}], "usage": self._usage}
        return json.dumps(found)
