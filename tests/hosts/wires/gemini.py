"""Google's generateContent: Gemini CLI."""

import json
from collections.abc import Iterator

from tests.hosts.script import OUTPUT_TOKENS, Json, Reply, Said, fresh, named, objects

_WHOLE = ":generateContent"
_STREAM = ":streamGenerateContent"


def serves(path: str) -> bool:
    return path.endswith((_WHOLE, _STREAM))


def streams(path: str, body: Json) -> bool:
    return path.endswith(_STREAM)


def is_side_request(body: Json) -> bool:
    return not body.get("tools")


def said(request: Json) -> Iterator[Said]:
    for content in objects(request.get("contents")):
        role = str(content.get("role", "user")).replace("model", "assistant")
        for part in objects(content.get("parts")):
            if "text" in part:
                yield Said(role, str(part["text"]))
            elif "functionResponse" in part:
                for text in _strings(objects([part["functionResponse"]])[0].get("response")):
                    yield Said(role, text, result=True)


def offered(request: Json) -> list[str]:
    return [
        name
        for tool in objects(request.get("tools"))
        for name in named(tool.get("functionDeclarations"))
    ]


def whole(reply: Reply, body: Json) -> Json:
    parts: list[Json] = [{"text": reply.text}] if reply.text else []
    parts += [
        {"functionCall": {"id": fresh("call"), "name": call.name, "args": dict(call.input)}}
        for call in reply.calls
    ]
    content = {"role": "model", "parts": parts}
    return {
        "candidates": [{"index": 0, "content": content, "finishReason": "STOP"}],
        "usageMetadata": {
            "promptTokenCount": reply.input_tokens,
            "candidatesTokenCount": OUTPUT_TOKENS,
            "totalTokenCount": reply.input_tokens + OUTPUT_TOKENS,
        },
        "responseId": fresh("resp"),
    }


def streamed(reply: Reply, body: Json) -> Iterator[str]:
    yield f"data: {json.dumps(whole(reply, body))}\n\n"


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)
