"""Several kinds as one: the seed's configuration, bounds, and kinds of others."""

from pathlib import Path
from types import SimpleNamespace

import pytest

import memfs
from memfs.context import assemble
from memfs.core.errors import MemfsError
from memfs.core.records import Message
from memfs.knowledge import orchestrator
from memfs.knowledge.orchestrator import Orchestrator
from memfs.recall.open_store import OpenStore
from memfs.store.blocks import Place

YAML = """memfs: 1
memory_blocks:
  vector:
    type: vector
    config:
      embedding_model: bundled
      chunk_size: 512
      overlap: 50
      retention: 90d
  facts:
    type: facts
    config:
      extraction_model: none
      confidence_threshold: 0.7
      deduplication: true
      categories: [identity, technical, preference, version, rule, decision]
  static:
    type: static
    config:
      indexes: [key, category, tags]
      searchable: true
  graph:
    type: graph
    config:
      max_depth: 10
      pattern_detection: true
      outcome_tracking: true
orchestrator:
  default_priority: [0.4, 0.3, 0.1, 0.2]
  context_limit: 4000
  compression: smart
"""


def configure(place: Place, text: str, *, user: bool = False) -> None:
    store = place.user if user else place.project
    assert store
    Path(store.root, "config.yaml").write_text(text)


def test_the_configuration(place: Place) -> None:
    configure(place, YAML)
    memory = memfs.open(".").orchestrator()
    assert memory.problems == ()
    assert list(memory.kinds) == ["vector", "facts", "static", "graph"]
    done = memory.store(
        "We decided to use `httpx` for the gateway.", session="s", facts=True, graph=True
    )
    assert {name: len(ids) for name, ids in done.items()} == {"graph": 1, "vector": 1, "facts": 1}
    found = memory.context("what do we use for the gateway?")
    assert "httpx" in found.text
    assert found.tokens <= 4000


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("words", [1, 400])  # those of a long prompt fill several windows
@pytest.mark.parametrize("session", ["", "now"])
def test_a_prompt_is_no_context_for_itself(words: int, session: str) -> None:
    memory = memfs.open(".")
    memory.archive("The HTTP timeout is five seconds.")
    asked = "How long is the <private>secret</private> HTTP timeout? " + "please tell me " * words
    kinds = memory.orchestrator()
    kinds.store([{"role": "user", "content": asked}], session="now", facts=True, graph=True)
    found = kinds.context(memfs.State(task=asked, session=session), {"vector": {"limit": 20}})
    assert [piece.text for piece in found.pieces] == ["The HTTP timeout is five seconds."]
    recent = (Message("m", "s", "python", "", "", "", "user", "The HTTP timeout is five seconds."),)
    again = kinds.context(memfs.State(task=asked, session=session, recent=recent))
    assert again.pieces == ()


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        (
            "memory_blocks: {v: {type: vector, config: {chunk_sise: 5}}}",
            "did you mean 'chunk_size'",
        ),
        ("memory_blocks: {v: {type: vector, config: {overlap: many}}}", "give a number >= 0"),
        ("memory_blocks: {v: {type: vector, config: {retention: soon}}}", "is not a duration"),
        ("memory_blocks: {v: {type: vector, capacity: 5}}", "capacity is not a mapping"),
        ("memory_blocks: {v: {type: nothing}}", "unknown kind of memory: 'nothing'"),
        ("memory_blocks: {v: 5}", "has no `type`"),
    ],
)
def test_what_is_wrong_with_a_kind_is_named_and_the_others_go_on(
    place: Place, said: str, wrong: str
) -> None:
    configure(place, f"memfs: 1\n{said[:-1]}, static: {{type: static}}}}\n", user=True)
    memory = orchestrator.for_session(OpenStore(place))
    assert list(memory.kinds) == ["static"]
    [problem] = memory.problems
    assert wrong in problem
    assert memory.context("anything").problems == memory.problems


def test_a_repository_names_no_kind_of_others_and_asks_no_model(place: Place) -> None:
    configure(
        place,
        "memfs: 1\nmemory_blocks:\n  a: {type: theirs}\n  b: {type: static}\n"
        "  c: {type: facts, config: {extraction_model: configured}}\n",
    )
    memory = orchestrator.for_session(OpenStore(place))
    assert list(memory.kinds) == ["b", "c"]
    assert [problem.rpartition(" is not used: ")[2] for problem in memory.problems] == [
        "a plugin can be set only in your own configuration",
        "a model can be set only in your own configuration",
    ]


PLUGIN = """
from memfs.context.pieces import Found
from memfs.knowledge.kinds.protocol import Metrics, Relevant


class Notes:
    def __init__(self, place, id, capacity, options):
        self.id, self.type, self.capacity = id, "notes", capacity
        self.prefix, self.notes, self.learnt = options.get("prefix", ""), [], []

    def store(self, content, **metadata):
        self.notes += [message.text for message in content]
        return [str(len(self.notes))]

    def learn(self, facts):
        self.learnt += [fact.statement for fact in facts]

    def retrieve(self, query):
        return [Found(str(n), "note", self.prefix + text, 1.0) for n, text in enumerate(self.notes)]

    def update(self, ident, content): ...
    def delete(self, ident): ...

    def relevant(self, state, query):
        if state.task == "break":
            raise ValueError("it broke")
        return Relevant(tuple(self.retrieve(query)), steps=("rest",))

    def summarize(self): return ""
    def compress(self): return 0
    def archive(self, older_than): return 0
    def metrics(self): return Metrics(len(self.notes), 0)
"""


def test_a_package_adds_a_kind(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = tmp_path / "site"  # as an installer leaves it
    (where / "notes_kind").mkdir(parents=True)
    (where / "notes_kind" / "__init__.py").write_text(PLUGIN)
    info = where / "notes_kind-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: notes-kind\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[memfs.kinds]\nnotes = notes_kind:Notes\n")
    monkeypatch.syspath_prepend(str(where))
    configure(
        place,
        "memfs: 1\nmemory_blocks:\n  mine: {type: notes, config: {prefix: 'note: '}}\n"
        "  facts: {type: facts}\n",
        user=True,
    )
    memory = orchestrator.for_session(OpenStore(place))
    assert memory.problems == ()
    memory.store("Never deploy on Fridays.", session="s", notes=True, facts=True)
    assert memory.kinds["mine"].learnt == ["Never deploy on Fridays"]  # type: ignore[attr-defined]
    found = memory.context("deploy")
    assert "note: Never deploy on Fridays." in found.text
    assert found.steps == ("rest",)
    broken = memory.context("break")
    assert broken.problems == ("mine: it broke",)


def test_a_plugin_that_cannot_learn_is_told_of_no_facts(place: Place) -> None:
    memory = Orchestrator(place, [memfs.Facts(place)])
    memory.register(SimpleNamespace(id="old", type="old"))
    done = memory.store("Never deploy on Fridays.", vector=False, facts=True)
    assert len(done["facts"]) == 1


def test_what_cannot_be_asked_for(place: Place) -> None:
    memory = orchestrator.for_session(OpenStore(place))
    for requirements, wrong in (
        ({"vektor": {}}, "unknown kind of memory: 'vektor'"),
        ({"vector": {"limt": 5}}, "cannot have 'limt'"),
        ({"vector": {"limit": "many"}}, "the requirement for 'vector' is not valid"),
        ({"vector": 5}, "must be a mapping"),
        ({"facts": {"recency": "once"}}, "recency cannot be 'once'"),
        ({"priority": []}, r"priority cannot be \[\]"),
        ({"priority": [1, -1]}, r"priority cannot be \[1, -1\]"),
    ):
        with pytest.raises(MemfsError, match=wrong):
            memory.context("x", requirements)
    with pytest.raises(MemfsError, match="10 tokens are too few"):
        memory.context("x", limit=10)
    with pytest.raises(MemfsError, match="unknown kind of memory: 'fcats'"):
        memory.store("x", fcats=True)


def test_priorities_and_what_is_left_out(place: Place) -> None:
    memory = orchestrator.for_session(OpenStore(place))
    for number in range(30):
        memory.store(
            f"The gateway of shop{number} keeps its port in file{number}.", session=f"s{number}"
        )
        memory.kinds["static"].store(
            f"Gateways like shop{number} use port {8000 + number}.",
            key=f"shop{number}",
            category="ports",
        )
    wanted = {"static": {"categories": ["ports"], "limit": 30}, "vector": {"limit": 30}}
    task = "which port does the gateway of a shop use"
    much = memory.context(task, {**wanted, "priority": [0.8, 0, 0.2, 0]}, limit=500)
    less = memory.context(task, {**wanted, "priority": [0.2, 0, 0.8, 0]}, limit=500)
    assert len(much.found["vector"]) > len(less.found["vector"])
    assert len(much.found["static"]) < len(less.found["static"])
    alone = memory.context(task, {"static": wanted["static"], "vector": False}, limit=500)
    assert "vector" not in alone.found
    assert much.left_out > 0
    assert much.tokens <= 500
    folded = [" ".join(p.text.lower().split()) for p in much.pieces]
    assert len(folded) == len(set(folded))
    assert assemble.HEAD in much.text


def test_the_same_is_said_once(place: Place) -> None:
    memory = orchestrator.for_session(OpenStore(place))
    memory.store("Never deploy the shop on Fridays.", session="s", facts=True, graph=True)
    found = memory.context("deploy the shop")
    assert found.text.count("deploy the shop on Fridays") == 1
