"""The files of an embedding model that a user names, which somebody may have changed."""

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
_HOSTILE = r"""
{"normalizer": {"type": "Precompiled", "precompiled_charsmap": "/////w=="}}
{"normalizer": {"type": "Precompiled", "precompiled_charsmap": "BAAAAP////8="}}
{"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFKC"},
 {"type": "Strip", "strip_left": true, "strip_right": true},
 {"type": "Replace", "pattern": {"Regex": "(a+)+$|"}, "content": "aaaaaaaa"},
 {"type": "Replace", "pattern": {"String": "a"}, "content": "LONG"},
 {"type": "Prepend", "prepend": "\u2581"}, {"type": "Lowercase"}]}}
{"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(a+)+$|(x|x)*y"},
 "behavior": "Isolated", "invert": false}}
{"pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always",
 "split": true}}
{"pre_tokenizer": {"type": "FixedLength", "length": 0}}
{"pre_tokenizer": {"type": "Digits", "individual_digits": true}}
{"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true,
 "use_regex": true}}
""".replace("LONG", "a" * 90)


def _hostile() -> list[bytes]:
    made = small_models.tokenizer(small_models.WORDS, "Unigram")
    parts = [json.loads(line) for line in _HOSTILE.replace("\n ", " ").split("\n") if line]
    return [json.dumps(made | part).encode() for part in parts]


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
