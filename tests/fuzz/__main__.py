"""`python -m tests.fuzz [NAME…] [--seconds 60]`: everything that memfs reads, broken at random.

What was found is told, and its cases are left in `--keep`; those that were mended are kept in
`tests/fuzz/cases`, and run by the suite.
"""

import argparse
import secrets
import sys
import tempfile
from pathlib import Path

from tests.fuzz import running


def main(words: list[str]) -> int:
    if words[:1] == ["--work"]:
        name, seconds, seed, top = words[1:]
        running.work(name, float(seconds), seed, Path(top))
        return 0
    if words[:1] == ["--replay"]:
        top, *names = words[1:]
        found = [each for name in names for each in running.replay(name, Path(top))]
        print("\n".join(found))
        return int(bool(found))
    asked = _arguments().parse_args(words)
    seed = asked.seed or secrets.token_hex(4)
    keep = asked.keep or Path(tempfile.mkdtemp(prefix="memfs-fuzz-found-"))
    failed = 0
    for name in asked.names or running.NAMES:
        count, findings = running.fuzz(name, asked.seconds, seed, keep)
        failed += len(findings)
        print(f"{name:14} {count:8,} cases, {len(findings)} findings", flush=True)
        for where in sorted(findings):
            print(f"  ✗ {where}", flush=True)
    if failed:
        print(f"the cases are in {keep}; the same lots again: --seed {seed}", file=sys.stderr)
    return int(bool(failed))


def _arguments() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    made.add_argument("names", nargs="*", metavar="NAME", choices=[*running.NAMES, []])
    made.add_argument("--seconds", type=float, default=60, help="for each target")
    made.add_argument("--seed", default="", help="what the lots are drawn from")
    made.add_argument("--keep", type=Path, help="a folder for the cases that were found")
    return made


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
