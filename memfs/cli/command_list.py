"""The commands by what people do with them: each row is one line of `memfs --help`."""

from __future__ import annotations

GROUPS = {
    "start": (
        ("init", "make a store for this project, and one for you"),
        ("install uninstall", "wire assistants to the memory; undo that"),
        ("status doctor", "see how the memory is; check and mend it"),
        ("trust", "let assistants have a cloned project's memory"),
        ("demo", "see the main job, step by step"),
    ),
    "blocks": (
        ("show", "print a block, or what sessions begin with"),
        ("create edit delete", "make, change or remove a block"),
        ("page", "move parts of a block out of context, and back"),
        ("rename rethink", "give a block another label, or a tidier text"),
        ("log diff blame", "see who changed a block, when, how and why"),
        ("undo restore", "take back an edit; go back to a version"),
    ),
    "find": (
        ("search", "search sessions, archive, blocks and facts"),
        ("recall", "compose what memory holds for a task"),
        ("web last", "see it all in a browser; what prompts were given"),
        ("archive static", "keep passages and reference texts"),
        ("source", "have folders of documents searched, too"),
        ("facts graph", "see what sessions stated, and how they went"),
    ),
    "sessions": (
        ("ingest", "read what assistants recorded"),
        ("session", "list, show, rate or forget recorded sessions"),
        ("review", "decide on what sessions propose for the memory"),
    ),
    "share": (
        ("sync", "keep the memory in AGENTS.md and the like"),
        ("team", "share sessions with your team, take them back"),
        ("export import", "write memory to one file; take it from others"),
    ),
    "models": (
        ("model", "see or change the embedding model"),
        ("agent", "talk with a model that manages this memory"),
        ("service", "see, start or stop what keeps indexes open"),
    ),
}
PLUMBING = (
    ("hook mcp", "what assistants call: their events, and our tools"),
    ("merge-driver", "what git calls to merge blocks"),
    ("apply tools", "do a model's tool calls; list the tools"),
    ("eval", "measure a model's memory work"),
    ("completion", "print the completion script for a shell"),
    ("help", "show the help of a command, or about a topic"),
)
TOPICS = ("configuration", "privacy", "recall", "trust")
COMMANDS = tuple(
    name for rows in (*GROUPS.values(), PLUMBING) for names, _ in rows for name in names.split()
)
# The modules that hold several commands, by command; any other one has a module of its own.
MODULES = {
    **dict.fromkeys(("create", "delete", "rename"), "edit"),
    **dict.fromkeys(("log", "diff", "blame", "undo", "restore"), "history"),
    **dict.fromkeys(("hook", "mcp", "merge-driver"), "programs"),
    "apply": "tools",
    "completion": "help",
    "uninstall": "install",
}
# The commands of parts that can be left out (see `core.parts`): the part, and the module.
PARTS = {
    "agent": ("agent", "memfs.agent.commands"),
    "eval": ("agent", "memfs.agent.eval_command"),
    "rethink": ("agent", "memfs.agent.rethink_command"),
    "import": ("importers", "memfs.importers.commands"),
    "export": ("importers", "memfs.importers.commands"),
    "team": ("team", "memfs.team.commands"),
    "web": ("web", "memfs.web.commands"),
}
