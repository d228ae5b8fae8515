"""A model read without numpy and tokenizers gives the vectors that its encoder gives."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memfs.search import encoder, modelfiles, plain
from memfs.search.encoder import Encoder
from memfs.search.plain import PlainModel
from tests.search import small_models

TEXTS = [
    "fix the retry back-off in src/x.py", "bread and bread from the oven", "naïve 日本語 Größe",
    "a b c " * 400, "x" * 300, "lone \ud800 surrogate",
]  # fmt: skip


def kept(folder: Path, model: Encoder) -> PlainModel | None:
    folder.mkdir(exist_ok=True)
    plain.keep(str(folder), model)
    return plain.opened(str(folder))


def whole(model: Encoder, text: str) -> list[int]:
    """Return the vector of a text as rows hold it."""
    found: list[int] = np.rint(model.encode([text]).vectors[0] * 127).astype(int).tolist()
    return found


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> PlainModel:
    found = kept(tmp_path_factory.mktemp("bundled"), encoder.bundled())
    assert found is not None
    return found


def entries(vector: bytes | None) -> list[int]:
    return memoryview(vector or b"").cast("b").tolist()


@pytest.mark.parametrize("text", TEXTS)
def test_a_vector_is_that_of_the_encoder(bundled: PlainModel, text: str) -> None:
    model = encoder.bundled()
    assert (
        bundled.tokens(text.encode("utf-8", "replace").decode()) == model.tokens([text])[0].tolist()
    )
    found = entries(bundled.vector(text)) or [0] * bundled.dims
    assert max(abs(a - b) for a, b in zip(found, whole(model, text), strict=True)) <= 1


@given(st.text(st.characters(max_codepoint=0x2FF, exclude_categories=[]), max_size=40))
@settings(max_examples=100, deadline=None)
def test_any_text_has_the_vector_of_the_encoder(bundled: PlainModel, text: str) -> None:
    found = entries(bundled.vector(text)) or [0] * bundled.dims
    expected = whole(encoder.bundled(), text)
    assert max(abs(a - b) for a, b in zip(found, expected, strict=True)) <= 1


@pytest.mark.parametrize("text", ["", "   ", "\x00", "x" * 300])
def test_a_text_without_known_words_has_none(bundled: PlainModel, text: str) -> None:
    assert bundled.vector(text) is None


def test_a_special_token_says_nothing(bundled: PlainModel) -> None:
    assert bundled.vector("bread [MASK] and[SEP]butter") == bundled.vector("bread and butter")
    assert bundled.vector("[UNK]") is None
    assert bundled.vector("[mask]") is not None


@pytest.mark.parametrize("weights", [True, False])
@pytest.mark.parametrize("dtype", ["I8", "F16", "F32", "F64"])
def test_models_of_each_type_are_read(tmp_path: Path, dtype: str, weights: bool) -> None:
    made = small_models.make(tmp_path / "m", kind="WordPiece", dtype=dtype, weights=weights)
    model = Encoder(str(made))
    found = kept(tmp_path / "kept", model)
    assert found is not None
    for text in ("bread", "Bake the loaf: a red, red oven", "piano"):
        pairs = zip(entries(found.vector(text)), whole(model, text), strict=True)
        assert max(abs(a - b) for a, b in pairs) <= 1


@pytest.mark.parametrize("kind", ["WordLevel", "Unigram", "BPE"])
def test_a_model_of_another_make_is_left_to_its_encoder(tmp_path: Path, kind: str) -> None:
    words = small_models.of_letters(9) if kind == "BPE" else small_models.WORDS
    made = small_models.make(tmp_path / "m", words=words, kind=kind)
    assert kept(tmp_path / "kept", Encoder(str(made))) is None


@pytest.mark.parametrize("more", [{"dtype": "BF16"}, {"mapped": True}])
def test_so_is_a_table_of_another_make(tmp_path: Path, more: dict[str, object]) -> None:
    made = small_models.make(tmp_path / "m", kind="WordPiece", **more)  # type: ignore[arg-type]
    assert kept(tmp_path / "kept", Encoder(str(made))) is None


def test_so_is_one_with_added_words_or_tokens_without_rows(tmp_path: Path) -> None:
    made = small_models.make(tmp_path / "m", kind="WordPiece")
    path = made / modelfiles.TOKENIZER
    told = json.loads(path.read_text())
    token = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    added = {"id": 1, "content": "bread", "special": False, **token}
    path.write_text(json.dumps({**told, "added_tokens": [added]}))
    assert kept(tmp_path / "kept", Encoder(str(made))) is None
    path.write_text(json.dumps({**told, "added_tokens": [{**added, "special": True}]}))
    assert kept(tmp_path / "kept", Encoder(str(made))) is not None
    told["model"]["vocab"].pop("bread")
    told["model"]["vocab"]["loaves"] = 500
    path.write_text(json.dumps(told))
    assert kept(tmp_path / "another", Encoder(str(made))) is None


def test_it_is_no_matter_if_it_cannot_be_written(tmp_path: Path) -> None:
    model = Encoder(str(small_models.make(tmp_path / "m", kind="WordPiece")))
    plain.keep(str(tmp_path / "gone"), model)
    assert not (tmp_path / "gone").exists()


def test_a_table_that_became_another_is_not_read(tmp_path: Path) -> None:
    made = small_models.make(tmp_path / "m", kind="WordPiece")
    assert kept(tmp_path / "kept", Encoder(str(made))) is not None
    small_models.make(made, kind="WordPiece", seed=2)
    os.utime(made / "model.safetensors", ns=(1, 1))
    assert plain.opened(str(tmp_path / "kept")) is None
    again = kept(tmp_path / "kept", Encoder(str(made)))
    assert again is not None
    assert entries(again.vector("bread")) == whole(Encoder(str(made)), "bread")


def test_what_is_there_is_not_written_again(tmp_path: Path) -> None:
    model = Encoder(str(small_models.make(tmp_path / "m", kind="WordPiece")))
    kept(tmp_path / "kept", model)
    before = (tmp_path / "kept" / plain.WORDS).stat().st_ino
    kept(tmp_path / "kept", model)
    assert (tmp_path / "kept" / plain.WORDS).stat().st_ino == before


@pytest.mark.parametrize("name", [plain.FILE, plain.WORDS])
@pytest.mark.parametrize("damage", [None, b"", b"{", b"[]", b'{"table": 3}', b"\xff\x00"])
def test_damaged_files_are_no_model(tmp_path: Path, name: str, damage: bytes | None) -> None:
    model = Encoder(str(small_models.make(tmp_path / "m", kind="WordPiece")))
    kept(tmp_path / "kept", model)
    path = tmp_path / "kept" / name
    path.unlink()
    if damage is not None:
        path.write_bytes(damage)
    assert plain.opened(str(tmp_path / "kept")) is None
    if name == plain.FILE:  # it is made anew with the next rows
        assert kept(tmp_path / "kept", model) is not None
