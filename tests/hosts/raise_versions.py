"""Raise the assistants to their newest versions, and run the tests with the real programs.

    MEMFS_HOSTS_DIR=../hosts python -m tests.hosts.raise_versions [--no-tests]

The versions stand in `versions.json` and nowhere else. After tests that pass, the tables of the
documentation are made anew; where some fail, the versions stay raised, so that one can mend it.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.hosts import matrix
from tests.hosts.installed import SKILLS, VERSIONS, list_installations

_ROOT = Path(__file__).parents[2]
_INSTALL = "npm install --ignore-scripts --omit=optional --no-audit --no-fund --loglevel=error"


def ask_newest(package: str) -> str:
    """Return the newest version of a package that npm knows."""
    asked = ["npm", "view", package, "version"]
    return subprocess.run(asked, capture_output=True, check=True, text=True).stdout.strip()


def main(words: list[str]) -> int:
    """Raise the versions; unless `--no-tests`, install them and run the tests."""
    packages = {each.source for each in list_installations() if each is not SKILLS}
    before = json.loads(VERSIONS.read_text())
    after = before | {package: ask_newest(package) for package in sorted(packages)}
    VERSIONS.write_text(json.dumps(after, indent=1, sort_keys=True) + "\n")
    for package, version in after.items():
        sys.stdout.write(f"{package}: {before.get(package, 'new')} -> {version}\n")
    if "--no-tests" in words:
        return 0
    python = [sys.executable, "-m"]
    listed = subprocess.run(
        [*python, "tests.hosts.installed"], capture_output=True, check=True, text=True, cwd=_ROOT
    )
    folder = os.environ["MEMFS_HOSTS_DIR"]
    command = [*_INSTALL.split(), "--prefix", folder, "axe-core@4", *listed.stdout.split()]
    subprocess.run(command, check=True)
    with tempfile.TemporaryDirectory() as temporary:
        found = f"{temporary}/matrix.json"
        tests = [*python, "pytest", "-n", "4", "-m", "host", "tests/hosts", "--matrix", found]
        if code := subprocess.run(tests, check=False, cwd=_ROOT).returncode:
            return code
        return matrix.main([found, f"{_ROOT}/README.md", f"{_ROOT}/docs/start.md"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
