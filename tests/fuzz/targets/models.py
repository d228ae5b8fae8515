"""The files of an embedding model that a user names, which somebody may have changed."""

from __future__ import annotations

import json
import shutil
from itertools import count

from memfs.core.errors import MemfsError
from memfs.search import encoder, model_files
from tests.fuzz.running import Case, Target
from tests.fuzz.world import World
from tests.search import small_models

_KINDS = {"WordLevel": "F32", "Unigram": "F16", "BPE": "I8", "WordPiece": "F64"}


# What a library does with these is its own affair; a process that ends is ours.
_STEPS: tuple[dict[str, object], ...] = (
    {"type": "Precompiled", "precompiled_charsmap": "/////w=="},
    {"type": "Precompiled", "precompiled_charsmap": "BAAAAP////8="},
    {
        "type": "Sequence",
        "normalizers": [
            {"type": "NFKC"},
            {"type": "Strip", "strip_left": True, "strip_right": True},
            {"type": "Replace", "pattern": {"Regex": "(a+)+$|"}, "content": "aaaaaaaa"},
            {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 90},
            {"type": "Prepend", "prepend": "\u2581"},
            {"type": "Lowercase"},
        ],
    },
)
_PIECES: tuple[dict[str, object], ...] = (
    {
        "type": "Split",
        "pattern": {"Regex": "(a+)+$|(x|x)*y"},
        "behavior": "Isolated",
        "invert": False,
    },
    {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True},
    {"type": "FixedLength", "length": 0},
    {"type": "Digits", "individual_digits": True},
    {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
)


def _hostile() -> list[bytes]:
    made = small_models.tokenizer(small_models.WORDS, "Unigram")
    told = [made | {"normalizer": each} for each in _STEPS]
    told += [made | {"pre_tokenizer": each} for each in _PIECES]
    return [json.dumps(each).encode() for each in told]


def begin(world: World) -> Target:
    user = world.home / ".agent-memory"
    folder = user / "model"
    with (user / "config.yaml").open("a") as config:
        config.write("embedding: ./model\n")
    settings = (user / "config.yaml").read_bytes()
    samples = []
    for kind, dtype in _KINDS.items():
        words = small_models.of_letters(20) if kind == "BPE" else small_models.WORDS
        made = small_models.make(
            world.top / "home/models" / kind, words=words, dtype=dtype, kind=kind, weights=True
        )
        samples += [
            Case(f"{kind}/{name}", (made / name).read_bytes()) for name in model_files.FILES
        ]
    samples += [Case("Unigram/tokenizer.json", data) for data in _hostile()]
    turns = count(1)
    for each in samples:
        path = world.top / "kept/models" / each.name
        if path.exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(each.data)

    def run(case: Case) -> None:
        kind, _, name = case.name.partition("/")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(world.top / "kept/models" / kind, folder)
        (folder / name).write_bytes(case.data)
        (user / "config.yaml").write_bytes(settings)
        try:
            opened = encoder.Encoder(model_files.read(str(folder))).check()
            opened.encode(["bread and ovens", "", "\ufffd", "日本", "a" * 3000])
        except MemfsError:
            pass
        if next(turns) % 5 == 0:
            world.go("search gophers tunnels")
            world.go("model")

    return Target(samples, run)
