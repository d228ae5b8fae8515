"""The encoder gives model2vec's vectors without model2vec."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model2vec import StaticModel
from numpy.typing import NDArray

from memfs.search import encoder
from memfs.search.encoder import Encoder
from memfs.search.model_files import BUNDLED, MAX_TOKENS
from tests.examples import examples

TEXTS = [
    "how do I bake bread",
    "The deployment of the payment service failed on Friday.",
    "def snake_case(self, camelCase: int) -> None: ...",
    "Zürich, naïve café — “quotes” … 😀 日本語 текст",
    "x",
    "* (",
    "a\tb\nc\r\n  d",
    "supercalifragilisticexpialidocious " * 5,
    "word " * 200,
]


@pytest.fixture(scope="module")
def reference() -> StaticModel:
    return StaticModel.from_pretrained(BUNDLED)


def cosines(one: NDArray[np.float32], two: NDArray[np.float32]) -> NDArray[np.float64]:
    return np.asarray((one * two).sum(axis=1), np.float64)


def test_the_vectors_are_those_of_model2vec(reference: StaticModel) -> None:
    ours = encoder.load_bundled().encode(TEXTS)
    theirs = np.asarray(reference.encode(TEXTS), np.float32)
    assert ours.vectors.shape == theirs.shape == (len(TEXTS), encoder.load_bundled().dims)
    assert ours.vectors.dtype == np.float32
    assert cosines(ours.vectors, theirs).min() > 0.999


def test_a_long_text_is_cut_where_model2vec_cuts_it(reference: StaticModel) -> None:
    text = " ".join(f"number {n} of a long list" for n in range(1000))
    ours = encoder.load_bundled().encode([text])
    assert len(ours.tokens[0]) == MAX_TOKENS
    assert cosines(ours.vectors, np.asarray(reference.encode([text]), np.float32))[0] > 0.99


@given(st.lists(st.text(max_size=40), min_size=1, max_size=4))
@examples(60)
def test_any_texts_have_the_vectors_of_model2vec(reference: StaticModel, texts: list[str]) -> None:
    ours = encoder.load_bundled().encode(texts).vectors
    theirs = np.asarray(reference.encode(texts), np.float32)
    for mine, other in zip(ours, theirs, strict=True):
        assert mine @ other > 0.999 or not (mine.any() or other.any())


@given(st.text(st.characters(exclude_categories=[]), max_size=40))
@examples(60)
def test_any_text_has_a_unit_or_a_zero_vector(text: str) -> None:
    found = encoder.load_bundled().encode([text])
    length = float(np.linalg.norm(found.vectors[0]))
    assert length == pytest.approx(1.0, abs=1e-4) if len(found.tokens[0]) else length == 0


def test_empty_texts_have_zero_vectors() -> None:
    found = encoder.load_bundled().encode(["", "  \n", "word"])
    assert [bool(row.any()) for row in found.vectors] == [False, False, True]
    assert [len(row) for row in found.tokens] == [0, 0, 1]


def test_no_texts_have_no_vectors() -> None:
    found = encoder.load_bundled().encode([])
    assert found.vectors.shape == (0, encoder.load_bundled().dims)
    assert found.tokens == []


def test_half_a_surrogate_pair_does_no_harm() -> None:
    one, two = encoder.load_bundled().encode(["bread \ud83d", "bread ?"]).vectors
    assert one @ two == pytest.approx(1.0)


def test_unknown_tokens_are_left_out() -> None:
    model = encoder.load_bundled()
    plain, odd = model.tokenize(["word", "word \U0010fffd\ue000"])
    assert odd.tolist() == plain.tolist()


def unit_rows(model: Encoder, tokens: NDArray[np.integer]) -> NDArray[np.float32]:
    rows = model.table[tokens].astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def test_norms_are_the_lengths_of_what_is_added_up() -> None:
    model = encoder.load_bundled()
    tokens = model.tokenize(["the deployment failed"])[0]
    rows, norms = unit_rows(model, tokens), model.compute_norms(tokens)
    summed = (rows * norms[:, None]).sum(axis=0)
    vector = model.encode(["the deployment failed"]).vectors[0]
    assert vector @ summed / np.linalg.norm(summed) == pytest.approx(1.0, abs=1e-5)
    the, deployment, _ = norms
    assert the < deployment


def test_cosines_of_tokens_are_those_of_their_rows() -> None:
    model = encoder.load_bundled()
    tokens, others = np.array([5, 900, 40_000], np.uint16), np.array([0, 5, 7, 40_000])
    wanted = unit_rows(model, tokens) @ unit_rows(model, others).T
    assert np.allclose(model.compute_cosines(tokens, others), wanted, atol=1e-3)
    assert model.compute_cosines(tokens[:0], others).shape == (0, 4)
    assert model.compute_cosines(tokens, others[:0]).shape == (3, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads in /proc")
def test_numpy_starts_no_threads() -> None:
    code = "import memfs.search.encoder, numpy, os; print(len(os.listdir('/proc/self/task')))"
    env = {name: value for name, value in os.environ.items() if "THREADS" not in name}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=env)
    assert done.stdout == b"1\n"
