"""The configuration of the founding document on kinds of memory, as it stands there."""

from pathlib import Path

import pytest

from memfs.knowledge.kinds import registry
from memfs.knowledge.orchestrator import Orchestrator
from memfs.ops import doctor, facts
from memfs.recall.open_store import OpenStore
from memfs.store import config_file
from memfs.store.blocks import Place
from tests.cli.conftest import Run

SECTION = """\
memory_blocks:
  vector:
    type: VectorMemoryBlock
    config:
      embedding_model: "text-embedding-ada-002"
      chunk_size: 512
      overlap: 50
      retention: "90d"

  facts:
    type: FactExtractionMemoryBlock
    config:
      extraction_model: "gpt-4"
      confidence_threshold: 0.7
      deduplication: true
      categories:
        - personal
        - technical
        - preferences
        - temporal

  static:
    type: StaticMemoryBlock
    config:
      indexes:
        - key
        - category
        - tags
      searchable: true

  graph:
    type: ConversationGraphMemoryBlock
    config:
      max_depth: 10
      pattern_detection: true
      outcome_tracking: true

orchestrator:
  default_priority: [0.4, 0.3, 0.1, 0.2]
  context_limit: 4000  # tokens
  compression: "smart"  # or "aggressive"
"""
NO_EMBEDDING = (
    "memory_blocks.vector.config.embedding_model: text-embedding-ada-002 is not used, because all "
    "memory is searched with the model of the setting `embedding` (bundled)"
)
NO_MODEL = (
    "memory_blocks.facts.config.extraction_model: gpt-4 is not used, because rules find facts; to use a "
    "model, set `llm.model` and `llm.endpoint`"
)
NOT_BY_PROJECT = "memory_blocks.facts.config.extraction_model: gpt-4 is not used: a model can be set only in your own configuration"


def write(root: str, text: str) -> str:
    path = Path(root, "config.yaml")
    path.write_text(f"memfs: 1\n{text}")
    return str(path)


def load(place: Place) -> tuple[dict[str, str], tuple[str, ...]]:
    kinds, problems = registry.load_kinds(OpenStore(place))
    return {kind.id: kind.type for kind in kinds}, tuple(problems)


ALL = {name: name for name in ("vector", "facts", "static", "graph")}


def test_the_users_own_makes_every_kind(place: Place, memfs: Run) -> None:
    assert place.user
    write(place.user.root, SECTION)
    assert config_file.find_problems(place.user) == []
    assert load(place) == (ALL, (NO_EMBEDDING, NO_MODEL))
    kinds, _ = registry.load_kinds(OpenStore(place))
    assert list(Orchestrator(place, kinds).kinds) == list(ALL)
    assert memfs("recall", "where do gophers dig?").code == 0


def test_its_model_is_asked_where_it_is_the_configured_one(place: Place) -> None:
    assert place.user
    write(place.user.root, SECTION)
    assert not facts.extract_by_model(place)
    write(place.user.root, f"{SECTION}llm: {{endpoint: 'http://localhost:1', model: gpt-4}}\n")
    assert facts.extract_by_model(place)
    assert load(place) == (ALL, (NO_EMBEDDING,))


def test_a_repository_is_refused_the_model_alone(place: Place, home: Path, memfs: Run) -> None:
    assert place.project
    path = write(place.project.root, SECTION)
    refused = f"{path}: {NOT_BY_PROJECT}"
    assert load(place) == (ALL, (refused, NO_EMBEDDING))
    assert not facts.extract_by_model(place)
    assert {refused, NO_EMBEDDING} <= {each.text for each in doctor.run(place, str(home))}
    assert "a model can be set only in your own configuration" in " ".join(
        memfs("status").out.split()
    )
    screen = memfs("recall", "where do gophers dig?")
    assert "a model can be set only in your own configuration" in " ".join(
        (screen.out + screen.err).split()
    )


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("memory_blocks: {mine: {type: plugged}, notes: {type: facts}}\n", {"notes": "facts"}),
        ("memory_blocks: {mine: {type: plugged}}\n", {}),
    ],
)
def test_a_repositorys_plugins_are_refused_one_by_one(
    place: Place, text: str, kinds: dict[str, str]
) -> None:
    """Nor do the defaults take the place of what was refused."""
    assert place.project
    path = write(place.project.root, text)
    refused = f"{path}: memory_blocks.mine is not used: a plugin can be set only in your own configuration"
    assert load(place) == (kinds, (refused,))
