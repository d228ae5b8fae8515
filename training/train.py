"""Train a static embedding model from texts and their teachers' vectors.

Run as `python -m training.train`; README.md beside this file says how.
"""

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from training import start
from training.bags import Floats, mean
from training.corpus import (
    TrainingError,
    load_tokenizer,
    read_pairs,
    read_texts,
    tokenise,
    tokenise_pairs,
)
from training.fit import Material, Outcome, Settings, fit
from training.losses import normalise
from training.quantise import save_model
from training.teachers import align, read_targets, read_vectors


def run(arguments: argparse.Namespace, report: Callable[[str], None]) -> Outcome:
    """Read what the parsed `arguments` name, train, and write the model.

    Raises TrainingError for input that cannot be used, OSError if the model cannot
    be written.
    """
    settings = _settings(arguments)
    tokenizer = load_tokenizer(arguments.tokenizer)
    material = read_material(arguments, tokenizer)
    # Before the long work, so that a folder that cannot be made costs nothing.
    arguments.out.mkdir(parents=True, exist_ok=True)
    pairs = material.pairs.queries.size if material.pairs else 0
    report(
        f"{material.texts.size} texts, {pairs} pairs, "
        f"{tokenizer.get_vocab_size()} tokens x {arguments.dims}"
    )
    table, material = first_table(arguments.init, material, tokenizer, settings.seed)
    outcome = fit(table, material, settings, report)
    save_model(arguments.out, table, tokenizer)
    report(f"wrote {arguments.out}")
    return outcome


def read_material(arguments: argparse.Namespace, tokenizer: Tokenizer) -> Material:
    """Texts, targets and pairs of the parsed `arguments`; raises TrainingError."""
    texts = read_texts(arguments.texts)
    if len(texts) == 1:
        raise TrainingError(f"{arguments.texts}: needs a second text, to measure with")
    bags = tokenise(tokenizer, texts, arguments.max_tokens)
    if not len(bags.ids):
        raise TrainingError(f"{arguments.texts}: not one token that the tokenizer knows")
    weights = arguments.teacher_weight or [1.0] * len(arguments.teacher)
    if len(weights) != len(arguments.teacher):
        raise TrainingError("--teacher-weight must be given once per --teacher")
    targets = read_targets(arguments.teacher, weights, len(texts), arguments.dims)
    pairs = None
    if arguments.pairs is not None:
        found = read_pairs(arguments.pairs)
        pairs = tokenise_pairs(tokenizer, found, arguments.max_tokens)
    return Material(bags, targets, pairs)


def first_table(
    init: Path | None, material: Material, tokenizer: Tokenizer, seed: int
) -> tuple[Floats, Material]:
    """Table (tokens, dims) to start from, and the material turned to suit it.

    `init` is a model's folder, a `.npy` of one vector per token, or None for token
    statistics. Raises TrainingError if it does not fit the tokenizer.
    """
    texts, targets, _ = material
    tokens = tokenizer.get_vocab_size()
    if init is not None and init.suffix != ".npy":
        table = start.from_model(init, tokenizer, targets.shape[1])
        rows = np.arange(min(texts.size, start.RIDGE_TEXTS))
        student = normalise(mean(texts.take(rows), table))[0]
        return table, material._replace(targets=align(targets, student))
    if init is None:
        features = start.from_statistics(texts, targets, tokens)
    else:
        features = read_vectors(init)
        if len(features) != tokens:
            raise TrainingError(f"{init}: {len(features)} rows for {tokens} tokens")
    rng = np.random.default_rng(seed)
    return start.from_features(features, texts, targets, rng), material


def _settings(arguments: argparse.Namespace) -> Settings:
    """Take settings from the command line; pair losses count only with pairs."""
    given = {
        name.name: getattr(arguments, name.name)
        for name in fields(Settings)
        if getattr(arguments, name.name) is not None
    }
    for name in PAIR_LOSSES:
        if arguments.pairs is None and given.get(name):
            raise TrainingError(f"--{name} needs --pairs")
        given.setdefault(name, 0.0 if arguments.pairs is None else 1.0)
    settings = Settings(**given)
    weights = settings.regression, settings.similarity
    if not any((*weights, settings.contrast, settings.maxsim)):
        raise TrainingError("all loss weights are 0: nothing to learn")
    return settings


def parser() -> argparse.ArgumentParser:
    """Build the command line, its defaults taken from Settings."""
    new = argparse.ArgumentParser(
        prog="python -m training.train",
        description="Train a static embedding model in model2vec's format.",
    )
    add = new.add_argument
    add("--texts", type=Path, required=True, help='JSONL of {"text": …}')
    add(
        "--teacher",
        type=Path,
        required=True,
        action="append",
        help=".npy with a vector per text; may be repeated",
    )
    add(
        "--teacher-weight",
        type=_above_zero,
        action="append",
        help="a teacher's share, once per --teacher (default: equal shares)",
    )
    add("--pairs", type=Path, help='JSONL of {"query": …, "passage": …, "source"?: …}')
    add("--tokenizer", type=Path, required=True, help="tokenizer.json")
    add("--init", type=Path, help="a model's folder, or .npy with a vector per token")
    add("--out", type=Path, required=True, help="folder for the model")
    add("--dims", type=_positive, default=256, help="default: %(default)s")
    for item in fields(Settings):
        flag, default = "--" + item.name.replace("_", "-"), item.default
        if item.name in PAIR_LOSSES:
            add(flag, type=_weight, help="loss weight (default: 1 with --pairs)")
        else:
            read = READERS.get(item.name, READERS[type(default).__name__])
            add(flag, type=read, default=default, help="default: %(default)s")
    return new


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; 0 when a model was written, 1 when not."""
    try:
        run(parser().parse_args(argv), print)
    except (TrainingError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _natural(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    return value


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def _above_zero(text: str) -> float:
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0")
    return value


def _weight(text: str) -> float:
    value = float(text)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a number of 0 or more")
    return value


PAIR_LOSSES = ("contrast", "maxsim")
# How to read a setting: by its name, else by its type.
READERS: dict[str, Callable[[str], float]] = {
    "regression": _weight,
    "similarity": _weight,
    "seed": _natural,
    "int": _positive,
    "float": _above_zero,
}

if __name__ == "__main__":
    sys.exit(main())
