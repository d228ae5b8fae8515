"""The shipped model, and the trainer that made it."""

import hashlib
import json
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model2vec import StaticModel
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.pre_tokenizers import Whitespace

import memfs.search.model as shipped
from tests.search.numbers import normal, unit
from training import losses, start, teachers
from training.bags import Bags, Floats, mean
from training.corpus import load_tokenizer, tokenise
from training.fit import Material, Settings, fit
from training.quantise import load_model, quantise
from training.train import main

MODEL = Path(next(iter(shipped.__path__)))
TOPICS = 16
ROWS = 24 * TOPICS
TOKENS = 10 * TOPICS + 2
PAIRS = "--pairs={}/pairs.jsonl"


def test_teachers_are_centred_and_weighted_by_their_share_of_the_cosine() -> None:
    one, two = normal(20, 5) + 9, normal(20, 3, 1)
    joined = teachers.join([one, two], [3, 1])
    cosines = [losses.normalise(part - part.mean(axis=0))[0] for part in (one, two)]
    shares = 3 * cosines[0] @ cosines[0].T + cosines[1] @ cosines[1].T
    assert_allclose(joined @ joined.T, shares, atol=1e-12)


def test_reduction_to_all_axes_keeps_every_cosine() -> None:
    rows = unit(30, 5)
    reduced = teachers.reduce(rows, 5)
    assert_allclose(reduced @ reduced.T, rows @ rows.T, atol=1e-12)


def test_reduction_keeps_the_widest_axes_first() -> None:
    rows = normal(200, 4) * [1, 5, 2, 0.1]
    reduced = teachers.reduce(rows, 2)
    wanted = losses.normalise(rows[:, [1, 2]])[0]
    assert (np.abs((reduced * wanted).sum(axis=1)) > 0.9).mean() > 0.9


def test_alignment_undoes_a_rotation() -> None:
    targets = unit(40, 5)
    turn = np.linalg.qr(normal(5, 5, 1))[0]
    student = (targets @ turn)[:30]
    assert_allclose(teachers.align(targets, student), targets @ turn, atol=1e-10)


def test_statistics_leave_unseen_tokens_at_zero() -> None:
    texts, targets = Bags.pack([[0, 1], [1, 2]]), unit(2, 3)
    features = start.from_statistics(texts, targets, 5)
    assert_allclose(features[1], targets.sum(axis=0) / 7)
    rng = np.random.default_rng(0)
    table = start.from_features(features, texts, targets, rng)
    assert_array_equal(table[3:], 0)
    assert np.linalg.norm(table, axis=1).mean() == pytest.approx(1)


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(2, 64))
def test_quantisation_round_trip(seed: int, tokens: int, dims: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((tokens, dims)) * np.exp(rng.normal(0, 3, (tokens, 1)))
    rows, weights = quantise(table.astype(np.float32))
    assert rows.dtype == np.int8
    assert weights.dtype == np.float32
    assert_array_equal(np.abs(rows.astype(int)).max(axis=1), 127)
    back = rows * weights[:, None]
    cosine = (losses.normalise(back)[0] * losses.normalise(table)[0]).sum(axis=1)
    assert cosine.min() > 0.99
    assert_array_equal(np.abs(back - table) <= weights[:, None] * 0.51, True)


def test_quantisation_keeps_rows_of_zeros() -> None:
    rows, weights = quantise(np.array([[0.0, 0.0], [1e-60, 0.0], [0.5, -1.0]]))
    assert_array_equal(rows, [[0, 0], [0, 0], [64, -127]])
    assert_allclose(weights, [0, 0, 1 / 127])


def by_hand(folder: Path, texts: list[str]) -> Floats:
    """Vectors of `texts` as the model card describes them."""
    tensors = load_file(folder / "model.safetensors")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    unknown = tokenizer.token_to_id("[UNK]")
    out = []
    for text in texts:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        ids = [i for i in ids if i != unknown]
        rows = tensors["weights"][ids, None] * tensors["embeddings"][ids]
        out.append(rows.mean(axis=0))
    return losses.normalise(np.array(out))[0]


def test_the_shipped_model_gives_the_vectors_its_card_describes() -> None:
    texts = ["How do I undo the last git commit?", "parseConfigFile ☃ raises KeyError"]
    model = StaticModel.from_pretrained(MODEL)
    vectors = model.encode(texts)
    assert vectors.shape == (2, 256)
    assert_allclose(vectors, by_hand(MODEL, texts), atol=1e-6)
    near, far = model.encode(["revert a commit with git", "a recipe for onion soup"])
    assert vectors[0] @ near > vectors[0] @ far + 0.3


def test_the_card_names_the_files_by_digest_and_size() -> None:
    card = (MODEL / "README.md").read_text(encoding="utf-8")
    for name in ("model.safetensors", "tokenizer.json", "config.json"):
        content = (MODEL / name).read_bytes()
        assert f"| `{name}` | {len(content):,} |" in card
        assert hashlib.sha256(content).hexdigest() in card


def test_the_shipped_table_survives_its_own_quantisation() -> None:
    stored = load_file(MODEL / "model.safetensors")
    rows, weights = quantise(load_model(MODEL).table)
    assert_array_equal(rows, stored["embeddings"])
    assert_allclose(weights, stored["weights"], rtol=1e-6)


class World(NamedTuple):
    """A corpus of topics whose questions and answers share no word."""

    folder: Path
    queries: list[str]
    passages: list[str]

    def call(self, out: str, *flags: str) -> tuple[int, str, str]:
        """Train on the corpus's files; returns the exit code and what was printed."""
        named = {"texts": "texts.jsonl", "teacher": "teacher.npy", "out": out}
        named |= {"tokenizer": "tokenizer.json"}
        argv = [f"--{flag}={self.folder / name}" for flag, name in named.items()]
        argv += ["--dims=8", "--batch=64", "--lr=0.02"]
        argv += [flag.replace("{}", str(self.folder)) for flag in flags]
        with redirect_stdout(StringIO()) as said, redirect_stderr(StringIO()) as error:
            code = main(argv)
        return code, said.getvalue(), error.getvalue()

    def train(self, out: str, *flags: str) -> list[str]:
        """Train into `out`; returns the lines printed."""
        code, said, error = self.call(out, *flags)
        assert (code, error) == (0, "")
        return said.splitlines()

    def refusal(self, *flags: str) -> str:
        """Return the error of a run that must fail, without the corpus's folder."""
        code, _, error = self.call("out", *flags)
        assert code == 1
        assert error.startswith("error: ")
        assert not (self.folder / "out" / "model.safetensors").exists()
        return error.removeprefix("error: ").replace(f"{self.folder}/", "")

    def table(self, out: str) -> Floats:
        """Return the table trained into `out`."""
        return load_model(self.folder / out).table

    def found(self, out: str) -> float:
        """Return the share of unseen queries whose passage is the nearest."""
        tokenizer = load_tokenizer(self.folder / "tokenizer.json")
        bags = [tokenise(tokenizer, t, 99) for t in (self.queries, self.passages)]
        query, passage = (losses.normalise(mean(b, self.table(out)))[0] for b in bags)
        nearest = (query @ passage.T).argmax(axis=1)
        return float((nearest == np.arange(len(query))).mean())


def write_rows(path: Path, rows: list[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Weak teachers (mostly noise), and pairs that tell what belongs together."""
    rng, topics = np.random.default_rng(7), range(TOPICS)
    asks = [[f"ask{t}x{k}" for k in range(4)] for t in topics]
    says = [[f"say{t}x{k}" for k in range(6)] for t in topics]

    def some(words: list[str], count: int) -> str:
        return " ".join(rng.choice(words, count, replace=False))

    texts = [some(words[t], 3) for t in topics for words in (asks, says) for _ in "x" * 12]
    write_rows(tmp_path / "texts.jsonl", [{"text": text} for text in texts])
    centres = np.repeat(rng.standard_normal((TOPICS, 16)), 24, axis=0)
    np.save(tmp_path / "teacher.npy", centres + 5 * rng.standard_normal((ROWS, 16)))
    ask_say = [(some(asks[t], 2), some(says[t], 4), t) for t in topics for _ in "x" * 8]
    pairs = [{"query": q, "passage": p, "source": f"{t % 2}"} for q, p, t in ask_say]
    write_rows(tmp_path / "pairs.jsonl", pairs)
    words = ["[PAD]", "[UNK]", *(word for group in asks + says for word in group)]
    model = WordPiece({w: k for k, w in enumerate(words)}, unk_token=words[1])
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return World(tmp_path, [some(group, 2) for group in asks], [some(group, 4) for group in says])


@pytest.mark.parametrize(
    ("off", "wanted"),
    [
        ((), 0.9),
        (("--maxsim=0",), 0.9),
        # Trained on single tokens, measured on means: a harder test.
        (("--contrast=0", "--regression=0", "--similarity=0"), 0.6),
    ],
)
def test_training_finds_more_answers_than_its_start(
    world: World, off: tuple[str, ...], wanted: float
) -> None:
    off = ("--similarity=0.1", "--regression=0.1", *off)
    world.train("before", PAIRS, *off, "--epochs=1", "--lr=1e-12")
    lines = world.train("after", PAIRS, *off, "--epochs=30")
    assert world.found("before") < 0.5
    assert world.found("after") > wanted
    assert lines[0] == f"{ROWS} texts, {8 * TOPICS} pairs, {TOKENS} tokens x 8"
    assert lines[-2].startswith("epoch 30/30: ")
    assert lines[-1] == f"wrote {world.folder / 'after'}"


def test_the_output_is_a_model2vec_model(world: World) -> None:
    world.train("out", PAIRS)
    out = world.folder / "out"
    # All three alike: the model goes into packages, so others must be able to read it.
    assert len({path.stat().st_mode for path in out.iterdir()}) == 1
    model = StaticModel.from_pretrained(out)
    assert model.embedding.dtype == np.int8
    texts = [*world.queries, f"{world.passages[0]} neverseen"]
    assert_allclose(model.encode(texts), by_hand(out, texts), atol=1e-6)
    ours, theirs = (json.loads((f / "config.json").read_bytes()) for f in (out, MODEL))
    assert ours.keys() == theirs.keys()
    assert ours["normalize"]


def test_training_is_repeatable(world: World) -> None:
    for name, seed in (("one", 0), ("two", 0), ("three", 1)):
        world.train(name, PAIRS, f"--seed={seed}")
    assert_array_equal(world.table("one"), world.table("two"))
    assert not np.array_equal(world.table("one"), world.table("three"))


def test_training_goes_on_from_a_model_whatever_the_teachers_axes(world: World) -> None:
    world.train("one", "--epochs=20")
    turn = np.linalg.qr(normal(16, 16))[0] * np.arange(1, 17)
    np.save(world.folder / "teacher.npy", np.load(world.folder / "teacher.npy") @ turn)
    lines = world.train("two", "--init={}/one", "--epochs=1", "--lr=1e-12")
    assert_allclose(world.table("two"), world.table("one"), atol=0.02)
    assert float(lines[1].split("cosine ")[1]) > 0.3


def test_a_start_from_token_vectors_and_several_teachers(world: World) -> None:
    np.save(world.folder / "tokens.npy", normal(TOKENS, 20))
    np.save(world.folder / "half.npy", normal(ROWS, 5).astype(np.float16))
    two = "--teacher={}/half.npy", "--teacher-weight=1", "--teacher-weight=.5"
    lines = world.train("out", *two, "--init={}/tokens.npy", "--epochs=9")
    first, *_, last = [line.split("cosine ")[1].split()[0] for line in lines[1:-1]]
    assert float(last) > float(first)


def test_targets_are_learnt_when_they_can_be() -> None:
    """Targets that are means of token vectors are found again almost exactly."""
    rng = np.random.default_rng(0)
    texts = Bags.pack(rng.integers(0, 99, (2000, 5)).tolist())
    targets = losses.normalise(mean(texts, start.at_random(99, 8, rng)))[0]
    table, settings = start.at_random(99, 8, rng), Settings(20, 64, 0.03, similarity=0)
    outcome = fit(table, Material(texts, targets, None), settings, lambda _: None)
    assert outcome.before < 0.5
    assert outcome.after > 0.99


def test_a_diverging_run_says_so(world: World) -> None:
    with np.errstate(all="ignore"):
        error = world.refusal("--lr=1e38")
    assert error == "the loss is no longer finite; try a lower --lr\n"


TEXT = '{"text": "ask0x0 ask0x1"}\n'
PAIR = '{"query": "ask0x0 ask0x1", "passage": "say0x0 say0x1 say0x2 say0x3"'
SHORT = '{"query": "ask0x0", "passage": "say0x0"}'
VALUE = "must be a string with text in it"
NAN = np.where(np.arange(ROWS)[:, None] == 3, np.nan, np.ones(9))
GAPS = Tokenizer(WordPiece({"[UNK]": 0, "a": 2})).to_str()

# A file, its new content (None: no file), and how the message begins; with a colon,
# after the file's name.
Content = str | bytes | NDArray[np.generic] | None
BAD: list[tuple[str, Content, str]] = [
    ("texts.jsonl", None, ": No such file or directory"),
    ("texts.jsonl", "", ": no texts"),
    ("texts.jsonl", TEXT, ": needs a second text, to measure with"),
    ("texts.jsonl", TEXT + "{'text'}\n", ":2: not JSON: Expecting property name"),
    ("texts.jsonl", TEXT + "\n" + TEXT, ":2: not JSON: Expecting value"),
    ("texts.jsonl", b'{"text": "caf\xe9"}', ":1: not JSON: 'utf-8' codec can't"),
    ("texts.jsonl", "[]", ":1: not an object"),
    ("texts.jsonl", TEXT + '{"txt": "a"}', f':2: "text" {VALUE}'),
    ("texts.jsonl", '{"text": " "}', f':1: "text" {VALUE}'),
    ("texts.jsonl", '{"text": "a\\ud800"}', ':1: "text" is not valid Unicode'),
    ("texts.jsonl", '{"text": "a"}\n' * 2, ": not one token that the tokenizer knows"),
    ("pairs.jsonl", "", ": no pairs"),
    ("pairs.jsonl", PAIR + '}\n{"query": "a"}', f':2: "passage" {VALUE}'),
    ("pairs.jsonl", PAIR + ', "source": 3}', f':1: "source" {VALUE}'),
    ("pairs.jsonl", SHORT, "none of the 1 pairs has 2 known tokens in its query and 4"),
    ("teacher.npy", None, ": No such file or directory"),
    ("teacher.npy", "0.1 0.2", ": not a .npy file of numbers"),
    ("teacher.npy", "", ": not a .npy file of numbers"),
    ("teacher.npy", np.ones((9, 9)), f": 9 rows for {ROWS} texts; a teacher needs one"),
    ("teacher.npy", NAN, ": row 3 has a NaN or infinite value"),
    ("teacher.npy", np.zeros((0, 9)), ": no vectors"),
    ("teacher.npy", np.zeros(ROWS), ": not a matrix with one row per text"),
    ("teacher.npy", np.zeros((ROWS, 9), np.int8), ": holds int8, not floats"),
    ("teacher.npy", np.ones((ROWS, 7)), "the teachers have 7 dimensions, --dims is 8"),
    ("teacher.npy", np.full((ROWS, 9), 0.1), "teacher 1: all its vectors are alike"),
    ("tokenizer.json", "{}", ": not a tokenizer: "),
    ("tokenizer.json", GAPS, ": the token ids do not run from 0 without gaps"),
    ("out", "", "[Errno 17] File exists: "),
]


@pytest.mark.parametrize(("name", "content", "message"), BAD)
def test_bad_files_are_named(world: World, name: str, content: Content, message: str) -> None:
    path = world.folder / name
    if content is None:
        path.unlink()
    elif isinstance(content, np.ndarray):
        np.save(path, content)
    else:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    wanted = name + message if message.startswith(":") else message
    assert world.refusal(PAIRS).startswith(wanted)


UNFIT: list[tuple[str, str]] = [
    ("--contrast=1", "--contrast needs --pairs"),
    ("--regression=0 --similarity=0", "all loss weights are 0: nothing to learn"),
    ("--teacher-weight=1 --teacher-weight=2", "--teacher-weight must be given once"),
    ("--init=nowhere", "nowhere/model.safetensors: not a model: "),
    ("--init={}/clustered", "clustered/model.safetensors: not a table with one row"),
    ("--init={}/wide", f"wide: its table is {TOKENS} x 9, not {TOKENS} x 8"),
    ("--init={}/teacher.npy", f"teacher.npy: {ROWS} rows for {TOKENS} tokens"),
    (f"--init={MODEL}", f"{MODEL}: its vocabulary is not that of --tokenizer"),
]


@pytest.mark.parametrize(("flags", "message"), UNFIT)
def test_flags_that_do_not_fit_are_named(world: World, flags: str, message: str) -> None:
    table: dict[str, NDArray[Any]] = {"embeddings": np.ones((TOKENS, 9), np.float32)}
    tokenizer = (world.folder / "tokenizer.json").read_bytes()
    for name in ("wide", "clustered"):
        (world.folder / name).mkdir()
        (world.folder / name / "tokenizer.json").write_bytes(tokenizer)
    save_file(table, world.folder / "wide/model.safetensors")
    table["mapping"] = np.arange(TOKENS)
    save_file(table, world.folder / "clustered/model.safetensors")
    assert world.refusal(*flags.split(" ")).startswith(message)


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("--epochs=0", "argument --epochs: 0 is not above 0"),
        ("--seed=-1", "argument --seed: -1 is below 0"),
        ("--lr=nan", "argument --lr: nan is not a number above 0"),
        ("--maxsim=-1", "argument --maxsim: -1 is not a number of 0 or more"),
    ],
)
def test_numbers_out_of_range_are_refused(
    capsys: pytest.CaptureFixture[str], flag: str, message: str
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([flag])
    assert capsys.readouterr().err.endswith(f"error: {message}\n")
