"""Any model2vec model gives model2vec's vectors; a broken one says what is wrong with it."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from model2vec import StaticModel

from memfs.core.errors import BUG, StoreError
from memfs.search import active_model, encoder, model_files, vector_layout
from memfs.search.encoder import Encoder
from memfs.search.engine import Engine
from memfs.search.indexer import Indexer
from memfs.search.semantic import Document, VectorIndex
from tests.search import small_models
from tests.search.small_models import WORDS, make, of_letters
from tests.search.stores import Corpus, document, read

TEXTS = [
    "Bread, bake the bread!",
    "piano music",
    "oven",
    "nothing of this is known",
    "",
    "red " * 600,
]
MANY = tuple(f"w{number}" for number in range(70_000))
LETTERS = of_letters(26)
SHAPES: dict[str, dict[str, object]] = {
    **{kind: {"dtype": kind} for kind in ("F32", "F16", "F64", "I8")},
    "weights": {"weights": True},
    "mapping": {"mapped": True, "weights": True},
    "mapping alone": {"mapped": True},
    "I8 with weights": {"dtype": "I8", "weights": True, "dims": 256},
    "odd dims": {"dims": 21},
    "one dim": {"dims": 1},
    "many tokens": {"words": (*WORDS, *MANY), "dims": 8},
    "unigram": {"kind": "Unigram"},
    "no unknown token": {"kind": "BPE", "words": LETTERS},
    "short": {"config": {"normalize": True, "max_length": 8}},
    "endless": {"config": {"normalize": True, "max_length": None}},
    "not normalized": {"config": {"normalize": False}},
    "old config": {"config": {"seq_length": 1_000_000}},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_any_model_gives_the_vectors_of_model2vec(tmp_path: Path, shape: str) -> None:
    folder = make(tmp_path, **SHAPES[shape])  # type: ignore[arg-type]
    ours = Encoder(str(folder)).encode(TEXTS).vectors
    theirs = np.asarray(StaticModel.from_pretrained(folder).encode(TEXTS), np.float32)
    theirs /= np.maximum(np.linalg.norm(theirs, axis=1, keepdims=True), 1e-9)
    assert ours.shape == theirs.shape
    assert np.allclose(ours, theirs, atol=2e-3)
    assert ours[:3].any(axis=1).all()


def test_half_a_float32_is_read_as_such(tmp_path: Path) -> None:
    halves = Encoder(str(make(tmp_path / "bf16", dtype="BF16"))).encode(TEXTS).vectors
    whole = Encoder(str(make(tmp_path / "f32", dtype="F32"))).encode(TEXTS).vectors
    assert np.allclose(halves, whole, atol=0.02)
    assert halves[0].any()


@pytest.mark.parametrize("shape", ["F64", "mapping", "odd dims", "many tokens"])
def test_a_search_by_any_model(tmp_path: Path, shape: str) -> None:
    model = model_files.read(str(make(tmp_path / "model", **SHAPES[shape])))  # type: ignore[arg-type]
    corpus = Corpus(tmp_path / "corpus")
    corpus.write("a.md", document("a", "bread from the oven"), document("b", "piano music"))
    corpus.write("c.md", document("c", "w69999 and w69998"), document("d", "red server"))
    indexer = Indexer(corpus.index)
    indexer.update(corpus.sources(), read)
    assert indexer.embed(model=model) == 4
    indexer.close()
    engine = Engine.open(corpus.index, "hybrid", encoder.open_model(model))
    assert engine.vectors
    assert engine.vectors.encoder.ids == (np.uint32 if shape == "many tokens" else np.uint16)
    engine.vectors.warm()
    for mode in ("hybrid", "semantic"):
        assert engine.search("oven bread", mode=mode).hits[0].id == "a"
    if shape == "many tokens":
        assert engine.search("w69999", mode="semantic").hits[0].id == "c"
        assert max(engine.vectors.tokens.tolist()) >= 1 << 16


def test_models_of_one_shape_have_names_of_their_own(tmp_path: Path) -> None:
    one, two = (make(tmp_path / str(seed), 256, MANY[:2000], seed=seed) for seed in (1, 2))
    again = make(tmp_path / "again", 256, MANY[:2000], seed=1)
    names = [model_files.read(str(folder)).name for folder in (one, two, again)]
    assert names[0] == names[2] != names[1]
    text = (one / "tokenizer.json").read_text()
    (one / "tokenizer.json").write_text(text.replace("Lowercase", "NFC"))
    assert model_files.read(str(one)).name not in names, "other tokens, other vectors"
    (two / "config.json").write_text('{"max_length": 3}')
    assert model_files.read(str(two)).name not in names


def test_vectors_of_two_models_lie_beside_each_other(tmp_path: Path) -> None:
    index = str(tmp_path / "index")
    one, two = (Encoder(str(make(tmp_path / str(seed), seed=seed))) for seed in (1, 2))
    for model, end in ((one, 3), (two, 2)):
        texts = (Document(number, 0, WORDS[number]) for number in range(1, end))
        VectorIndex(index, model).extend(texts, end)
    assert [vector_layout.load_extent(index, model.name).documents for model in (one, two)] == [
        3,
        2,
    ]
    assert vector_layout.load_active_extent(index) is None
    active_model.serve(index, one.name)
    now = vector_layout.load_active_extent(index)
    assert now
    assert (now.model, now.source) == (one.name, str(tmp_path / "1"))
    assert vector_layout.load_extent(index, two.name).documents == 0
    assert sorted(os.listdir(f"{index}/v5/vectors")) == sorted([one.name, "serving"])


@pytest.mark.parametrize("text", ["", "../x", "a/b", ".", ".hidden", "gone", "\udc80", "x" * 9999])
def test_a_pointer_to_nothing_is_none(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "v5/vectors"
    folder.mkdir(parents=True)
    (folder / "serving").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert vector_layout.load_active_extent(str(tmp_path)) is None


def test_what_lay_there_before_models_had_folders_is_removed(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    corpus.write("a.md", document("a", "baking bread"))
    folder = Path(corpus.index, "v5/vectors")
    corpus.update()
    folder.mkdir()
    (folder / "vectors.i8").write_bytes(b"\x01" * 256)
    (folder / "rows.json").write_text('{"model": "model-(47955, 256)-12468460", "rows": 1}')
    corpus.update(embed=True)
    assert sorted(os.listdir(folder)) == sorted([encoder.load_bundled().name, "serving"])


def header(folder: Path, change: Callable[[dict[str, dict[str, object]]], object]) -> None:
    path = folder / "model.safetensors"
    data = path.read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    found = json.loads(data[8:end])
    change(found)
    text = json.dumps(found).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data[end:])


def entry(key: str, value: object, name: str = "embeddings") -> Callable[[Path], None]:
    return lambda folder: header(folder, lambda found: found[name].update({key: value}))


def put(name: str, data: bytes) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(data)


def gone(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).unlink()


def fifo(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    os.mkfifo(folder / "model.safetensors")


def arrays(**given: object) -> Callable[[Path], object]:
    rows = {"embeddings": np.ones((11, 16), np.float32)}
    more = {name: np.asarray(value) for name, value in given.items()}
    return lambda folder: small_models.save(folder, rows | more)


HUGE = (1 << 62).to_bytes(8, "little")
BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "no table": (gone("model.safetensors"), "the file model.safetensors is missing"),
    "no tokenizer": (gone("tokenizer.json"), "the file tokenizer.json is missing"),
    "a pipe": (fifo, "the file model.safetensors is missing"),
    "empty": (put("model.safetensors", b""), "not a complete safetensors file"),
    "huge header": (put("model.safetensors", HUGE + b"{}"), "not a complete safetensors file"),
    "long header": (
        put("model.safetensors", b"\x00\x00\x20\0\0\0\0\0" + b" " * (3 << 20)),
        "not a complete safetensors file",
    ),
    "no header": (put("model.safetensors", b"\x05\0\0\0\0\0\0\0{bad}"), "header"),
    "a list": (put("model.safetensors", b"\x02\0\0\0\0\0\0\0[]"), "header"),
    "deep": (put("model.safetensors", b"\0\0\x10\0\0\0\0\0" + b"[" * (1 << 20)), "header"),
    "a pickle": (
        put("model.safetensors", b"\x80\x04\x95" + b"x" * 100),
        "not a complete safetensors file",
    ),
    "other tensors": (lambda folder: header(folder, dict.clear), "no 'embeddings'"),
    "a type": (entry("dtype", "U8"), "type U8"),
    "a type that is none": (entry("dtype", ["F32"]), "type ['F32']"),
    "a cube": (entry("shape", [11, 4, 4]), "shape"),
    "no rows": (entry("shape", [0, 16]), "shape"),
    "less than none": (entry("shape", [-11, -16]), "shape"),
    "a word": (entry("shape", ["11", 16]), "shape"),
    "more than there is": (entry("shape", [12, 16]), "ends before"),
    "overflow": (entry("shape", [1 << 30, 8000]), "ends before"),
    "too many dims": (entry("shape", [1, 9000]), "dimensions"),
    "before the file": (entry("data_offsets", [-100, 604]), "header"),
    "behind the file": (entry("data_offsets", [1 << 40, (1 << 40) + 704]), "ends before"),
    "no offsets": (entry("data_offsets", 5), "header"),
    "weights": (arrays(weights=np.ones(10, np.float32)), "10 weights, but 11 tokens"),
    "mapping": (
        arrays(mapping=np.array([0] * 10 + [11], np.int64)),
        "missing rows of the embedding table",
    ),
    "mapping below": (
        arrays(mapping=np.array([0] * 10 + [-1], np.int64)),
        "missing rows of the embedding table",
    ),
    "mapping of numbers": (arrays(mapping=np.ones(11, np.float32)), "type F32"),
    "two models": (arrays(embeddings=np.ones((9, 16), np.float32)), "belong to different models"),
    "a short mapping": (arrays(mapping=np.zeros(5, np.int64)), "belong to different models"),
    "tokenizer": (put("tokenizer.json", b"{"), "tokenizer.json cannot be read"),
    "tokenizer of nothing": (put("tokenizer.json", b"{}"), "tokenizer.json cannot be read"),
    "config": (put("config.json", b"{"), "config.json"),
    "config of a list": (put("config.json", b"[1]"), "config.json"),
    "length": (put("config.json", b'{"max_length": -1}'), "max_length in config.json is -1"),
}


@pytest.mark.parametrize("damage", BROKEN)
def test_a_broken_model_says_what_is_wrong(tmp_path: Path, damage: str) -> None:
    folder = make(tmp_path / "mine")
    spoil, said = BROKEN[damage]
    spoil(folder)
    with pytest.raises(StoreError) as raised:
        Encoder(str(folder)).check()
    assert str(folder) in raised.value.message
    assert said in raised.value.message
    assert "memfs model use bundled" in raised.value.hint


def test_a_missing_bundled_model_is_a_broken_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_files, "BUNDLED", str(tmp_path))
    with pytest.raises(StoreError, match="the embedding model cannot be read") as raised:
        model_files.read(model_files.BUNDLED)
    assert raised.value.code == BUG


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_numbers_that_are_none_do_no_harm(tmp_path: Path, value: float, dtype: type) -> None:
    folder = make(tmp_path)
    table = np.random.default_rng(1).normal(size=(11, 16))
    table[1:3] = value
    with np.errstate(over="ignore"):
        small_models.save(folder, {"embeddings": table.astype(dtype)})
    model = Encoder(str(folder)).check()
    found = model.encode(["bread bake", "oven", "bread oven"])
    assert np.isfinite(found.vectors).all()
    assert found.vectors[1].any()
    with np.errstate(over="ignore"):
        assert np.isfinite(model.compute_cosines(found.tokens[0], np.arange(11))).all()


def test_a_token_without_a_row_is_left_out(tmp_path: Path) -> None:
    folder = make(tmp_path)
    path = folder / "tokenizer.json"
    path.write_text(path.read_text().replace('"oven": 3', '"oven": 300'))
    model = Encoder(str(folder)).check()
    assert [row.tolist() for row in model.tokenize(["oven bread", "oven"])] == [[1], []]
