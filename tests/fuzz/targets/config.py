"""`config.yaml` of a project and of its user."""

from __future__ import annotations

from memfs.core import settings
from memfs.recall import model_config
from memfs.store import config, config_file
from tests.e2e import ways
from tests.e2e.hostile import CONFIG
from tests.fuzz.running import Case, Target
from tests.fuzz.world import World

_MORE = """\
memfs: 1
max_blocks: 20
blocks:
  rules: {limit: 900}
hooks: {recall: 3, cold: hybrid}
embedding: none
memory_blocks: [vector, facts, {kind: static, limit: 3}]
tools:
  remove: [memory_undo]
  describe: {memory_status: Say how it is.}
  add:
    note: {tool: core_memory_append, description: Notes., with: {label: rules}}
review: {mode: nudge}
trust: {pulled: hold}
context: {budget: 2000}
"""


def begin(world: World) -> Target:
    doors = (
        ways.hook("claude", "UserPromptSubmit", prompt="gophers dig tunnels"),
        ways.cli("status"),
        ways.cli("doctor"),
        ways.cli("tools"),
        ways.cli("recall gophers"),
        ways.cli("search gophers"),
        ways.tool("memory_status"),
    )
    turn = 0

    def run(case: Case) -> None:
        nonlocal turn
        (world.top / case.name).write_bytes(case.data)
        place = world.place()
        found = config.load(place)
        for key in settings.DEFAULTS:
            found.get(key)
        for store in place.stores():
            config_file.find_problems(store)
        model_config.load_wanted_model(place)
        turn += 1
        if turn % 4 == 0:
            world.through(doors[turn // 4 % len(doors)])
        world.put_back("config.yaml")

    names = ("repo/.agent-memory/config.yaml", "home/.agent-memory/config.yaml")
    texts = (_MORE, CONFIG, (world.store / "config.yaml").read_text())
    return Target([Case(name, text.encode()) for name in names for text in texts], run)
