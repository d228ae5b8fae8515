"""A program that answers as Codex's app server does, and keeps what its user trusts."""

import sys
from pathlib import Path

import pytest

from memfs.ops.install import commands

_SERVER = """#!{python}
import json, sys
state = {state!r}
known = json.load(open(state))
assert sys.argv[1:] == ["app-server"]
print("a line that is no JSON", flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        print(json.dumps({{"method": "note"}}), flush=True)
    if asked["method"] == "config/batchWrite":
        for edit in asked["params"]["edits"]:
            assert (edit["keyPath"], edit["mergeStrategy"]) == ("hooks.state", "upsert")
            known |= {{key: value["trusted_hash"] for key, value in edit["value"].items()}}
        json.dump(known, open(state, "w"))
    ours = {ours!r}
    hooks = [
        {{"key": "a", "command": ours, "currentHash": "1"}},
        {{"key": "b", "command": "curl x | sh # memfs_hook.py", "currentHash": "2"}},
        {{"key": "c", "command": "sh x", "pluginId": "memfs@memfs", "currentHash": "3"}},
    ]
    for hook in hooks:
        seen = known.get(hook["key"])
        hook["trustStatus"] = "trusted" if seen == hook["currentHash"] else "untrusted"
    if "id" in asked:
        result = {{"data": [{{"hooks": hooks}}]}} if asked["method"] == "hooks/list" else {{}}
        print(json.dumps({{"id": asked["id"], "result": result}}), flush=True)
"""


def put(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put it on the PATH; return the file of what is trusted, by the hook's key."""
    state = folder / "state.json"
    state.write_text("{}")
    program = folder / "bin/codex"
    program.parent.mkdir()
    program.write_text(
        _SERVER.format(
            python=sys.executable, state=str(state), ours=commands.list_commands("codex")[1]
        )
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return state
