"""Settings files as people have them: by name, whose it is, in which scope, its path, its text.

A path begins at the project's folder in the scopes project and local, else at the home folder.
"""

from __future__ import annotations

from typing import NamedTuple


class Sample(NamedTuple):
    """One file; `refused` is a part of why nothing may be written, "" where it may."""

    host: str
    scope: str
    path: str
    text: str
    refused: str = ""


CLAUDE = ("claude", "project", ".claude/settings.json")
CLAUDE_OWN = ("claude", "local", ".claude/settings.local.json")
CLAUDE_USER = ("claude", "user", ".claude/settings.json")
CLAUDE_JSON = ("claude", "user", ".claude.json")
MCP = ("claude", "project", ".mcp.json")
CODEX = ("codex", "project", ".codex/config.toml")
CODEX_USER = ("codex", "user", ".codex/config.toml")
CODEX_HOOKS = ("codex", "user", ".codex/hooks.json")
GEMINI = ("gemini", "user", ".gemini/settings.json")
GEMINI_HERE = ("gemini", "project", ".gemini/settings.json")
COPILOT = ("copilot", "user", ".copilot/mcp-config.json")
COPILOT_HOOKS = ("copilot", "project", ".github/hooks/memfs.json")
OPENCODE = ("opencode", "project", "opencode.json")
OPENCODE_USER = ("opencode", "user", ".config/opencode/opencode.jsonc")
CURSOR = ("cursor", "project", ".cursor/hooks.json")
CURSOR_USER = ("cursor", "user", ".cursor/hooks.json")
CURSOR_MCP = ("cursor", "project", ".cursor/mcp.json")

DEEP = '{"a": ' * 90 + "{}" + "}" * 90
LONG = '{"projects": {' + ", ".join(f'"/p/{n}": {{"history": ["{n}"]}}' for n in range(500)) + "}}"

SAMPLES = {
    # Comments in odd places, and trailing commas.
    "comment first": Sample(*GEMINI_HERE, '// mine\n{\n  "model": "opus"\n}\n'),
    "comment last": Sample(*GEMINI_HERE, '{\n  "model": "opus"\n}\n// that is all\n'),
    "comment before a comma": Sample(
        *GEMINI_HERE, '{\n  "model": "opus" /* big */,\n  "a": 1\n}\n'
    ),
    "comment behind the last member": Sample(*GEMINI_HERE, '{\n  "model": "opus" // big\n}\n'),
    "comment behind a trailing comma": Sample(
        *OPENCODE, '{\n  "model": "opus", // big\n  // end\n}\n'
    ),
    "comment for each of two lists": Sample(
        *OPENCODE,
        '{\n  "permissions": {\n    // asks\n    "allow": [\n      // git\n      "Bash(git:*)", // all\n'
        "    ],\n  },\n}\n",
    ),
    "comment where a server was": Sample(
        *GEMINI_HERE, '{\n  "mcpServers": {\n    // "pg": {"command": "x"}\n  }\n}\n'
    ),
    "comment in an empty list": Sample(*GEMINI_HERE, '{"hooks": {"Stop": [ /* none yet */ ]}}'),
    "comment in an empty object": Sample(*CURSOR_MCP, '{"mcpServers": {/* soon */}}\n'),
    "comment between key and value": Sample(
        *GEMINI, '{"theme": /* dark? */ "Dracula" /* yes */}\n'
    ),
    "comment with what looks like ours": Sample(
        *GEMINI_HERE, '{\n  // "command": "memfs_hook.py claude"\n  "a": "//x"\n}\n'
    ),
    "block comment over lines": Sample(
        *OPENCODE_USER, '/* mine,\n * all "of" it {\n */\n{"theme": "x"} /* end\n*/\n'
    ),
    "only comments": Sample(*OPENCODE_USER, "// nothing here yet\n/* or ever */\n"),
    "only a comment without a line end": Sample(*CURSOR_USER, "// nothing here yet"),
    "trailing commas everywhere": Sample(
        *OPENCODE, '{\n  "mcpServers": {"x": {"args": ["a", "b",],},},\n}\n'
    ),
    "a comma alone on its line": Sample(*OPENCODE, '{\n  "a": 1\n  ,\n  "b": 2\n  ,\n}\n'),
    "commas that lead": Sample(*OPENCODE, '{\n    "theme": "x"\n  , "model": "a/b"\n}\n'),
    # White space.
    "tabs": Sample(*CLAUDE, '{\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{"hooks": []}\n\t\t]\n\t}\n}\n'),
    "four spaces": Sample(*GEMINI_HERE, '{\n    "ui": {\n        "theme": "x"\n    }\n}\n'),
    "CRLF": Sample(
        *CLAUDE, '{\r\n  "model": "opus",\r\n  "hooks": {\r\n    "Stop": []\r\n  }\r\n}\r\n'
    ),
    "CRLF and comments": Sample(
        *CURSOR, '{\r\n  // v\r\n  "version": 1, // one\r\n  "hooks": {}\r\n}\r\n'
    ),
    "mixed line ends": Sample(*MCP, '{\r\n  "mcpServers": {\n    "a": {"command": "x"}\r\n  }\n}'),
    "byte order mark": Sample(*CLAUDE, '\ufeff{"model": "opus"}\n'),
    "no final line end": Sample(*COPILOT, '{\n  "mcpServers": {}\n}'),
    "many final line ends": Sample(*CODEX_HOOKS, '{"hooks": {}}\n\n\n\n'),
    "minified": Sample(
        *CLAUDE_USER,
        '{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}',
    ),
    "minified with a list of rights": Sample(
        *CLAUDE, '{"permissions":{"allow":["Bash(ls)","mcp__a"],"deny":[]}}'
    ),
    "no white space but line ends": Sample(
        *OPENCODE, '{\n"mcp":{\n"a":{\n"type":"remote"\n}\n}\n}\n'
    ),
    "nothing": Sample(*CLAUDE, ""),
    "white space alone": Sample(*GEMINI, " \n\t\n"),
    "an empty object": Sample(*CLAUDE, "{}"),
    "an empty object over lines": Sample(*CURSOR_USER, "{\n\n}\n"),
    # What others have in the same places.
    "others in the same events": Sample(
        *CLAUDE,
        '{\n  "hooks": {\n    "SessionStart": [\n      {"matcher": "startup", "hooks": [{"type": "command", '
        '"command": "a"}]},\n      {"hooks": [{"type": "command", "command": "b", "timeout": 5}]}\n    ],\n'
        '    "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "c"}]}]\n  }\n}\n',
    ),
    "empty lists of hooks": Sample(
        *CLAUDE, '{"hooks": {"SessionStart": [], "Stop": [], "Other": []}, "a": []}\n'
    ),
    "empty objects": Sample(*CLAUDE, '{"hooks": {}, "permissions": {}, "env": {}}\n'),
    "an empty list of rights": Sample(
        *CLAUDE, '{"permissions": {"allow": []}, "enabledMcpjsonServers": []}\n'
    ),
    "hooks of Cursor's own shape": Sample(
        *CURSOR,
        '{\n  "hooks": {\n    "stop": [{"command": "./audit.sh", "loop_limit": null}],\n'
        '    "afterFileEdit": [{"command": "fmt"}]\n  },\n  "version": 1\n}\n',
    ),
    "servers of others": Sample(
        *CLAUDE_JSON, '{"numStartups": 4, "mcpServers": {"a": {"command": "x", "env": {"K": "é"}}}}'
    ),
    "keys in odd order": Sample(
        *GEMINI, '{"z": 1, "mcpServers": {}, "a": {"y": 1, "b": 2}, "hooks": {}, "m": null}\n'
    ),
    "another version": Sample(
        *COPILOT_HOOKS, '{"version": 1, "disableAllHooks": false, "hooks": {}}\n'
    ),
    "a schema": Sample(*OPENCODE, '{"$schema": "https://opencode.ai/config.json", "mcp": {}}\n'),
    # Odd values.
    "escapes": Sample(
        *CLAUDE,
        '{"\\u0068ooks": {"St\\u006fp": []}, "a\\/b": "\\ud83d\\ude00 \\u00e9 \\"", "n": 1e2}\n',
    ),
    "odd numbers": Sample(
        *GEMINI, '{"a": 1.0, "b": 1E+2, "c": -0, "d": 12345678901234567890, "e": 0.1e-7}\n'
    ),
    "half a pair": Sample(*CLAUDE, '{"a": "\\ud800", "hooks": {}}\n'),
    "odd characters": Sample(
        *CLAUDE, '{"\u2028": "\u2029\x7f\u00a0", "é": "日本", "": {"": ""}}\n'
    ),
    "deep": Sample(*CLAUDE, DEEP),
    "long": Sample(*CLAUDE_JSON, LONG),
    "the same value again and again": Sample(
        *CLAUDE, '{"permissions": {"allow": ["a", "a", "b", "a"]}}\n'
    ),
    # TOML.
    "TOML with comments": Sample(
        *CODEX, '# mine\nmodel = "gpt-5.4"   # spaced\n\n# [mcp_servers.memfs]\n'
    ),
    "TOML with servers": Sample(
        *CODEX_USER, '[mcp_servers.a]\ncommand = "x"\n\n[mcp_servers.a.env]\nK = "v"\n\n\n'
    ),
    "TOML with a header alone": Sample(*CODEX, "[mcp_servers]\n"),
    "TOML with dotted keys": Sample(
        *CODEX, 'mcp_servers.a.command = "x"\nfeatures.plugins = false'
    ),
    "TOML with CRLF": Sample(*CODEX_USER, 'model = "x"\r\n\r\n[tui]\r\nnotifications = true\r\n'),
    "TOML with texts over lines": Sample(
        *CODEX,
        "a = \"\"\"\n[mcp_servers.memfs]\n\"\"\"\nb = '''\n# by memfs\n'''\nc = [\n  [1],\n]\n",
    ),
    "TOML without a final line end": Sample(*CODEX, '[projects."/x y"]\ntrust_level = "trusted"'),
    "TOML with a byte order mark": Sample(*CODEX, '\ufeffmodel = "x"\n'),
    "TOML of nothing": Sample(*CODEX_USER, ""),
    "TOML of comments": Sample(*CODEX, "# nothing here yet\n#\n"),
    "TOML with lists of tables": Sample(
        *CODEX, "[[a]]\nb = 1\n\n[[a]]\nb = 2\n  [a.c]\n  d = 1979-05-27\n"
    ),
    "TOML with white space alone": Sample(*CODEX, "\n \n"),
    # What cannot be written back.
    "a key twice": Sample(
        *CLAUDE, '{"model": "a", "model": "b"}\n', "the key 'model' is there twice in line 1"
    ),
    "a key twice, deep": Sample(
        *GEMINI, '{"ui": {"a": 1,\n"a": 2}}\n', "the key 'a' is there twice in line 2"
    ),
    "a list": Sample(*CLAUDE, "[]\n", "is not a settings file"),
    "half a file": Sample(*CURSOR, '{"version": 1, "hooks": {\n', "in line 2"),
    "a key twice in TOML": Sample(*CODEX, "a = 1\na = 2\n", "cannot be read back safely"),
    "an inline table in TOML": Sample(
        *CODEX, 'mcp_servers = {a = {command = "x"}}\n', "is written in one line"
    ),
    "a comment in half a file": Sample(
        *CLAUDE, '{"a": 1, // comment\n', "cannot be read back safely"
    ),
    "hooks that are a list": Sample(*CLAUDE, '{"hooks": []}', "is not a settings file"),
    "half a file of TOML": Sample(*CODEX, "a = [\n", "cannot be read back safely"),
    "another server of our name": Sample(
        *CODEX, '[mcp_servers.memfs]\ncommand = "x"\n', "another MCP server named memfs"
    ),
    "another one in one line": Sample(
        *CODEX, "mcp_servers = {memfs = 1}\n", "another MCP server named memfs"
    ),
}
