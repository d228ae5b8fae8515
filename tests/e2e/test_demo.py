"""`memfs demo`, which the README begins with."""

import os
import subprocess
import sys
from pathlib import Path


def test_the_demo_shows_the_main_job(tmp_path: Path, home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "memfs", "demo"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    shown = done.stdout + done.stderr
    assert done.returncode == 0, shown
    assert "error:" not in shown
    assert "# Recalled from earlier sessions" in shown
    assert "(undid replace, version 3)" in shown
    assert list(home.iterdir()) == [], "it leaves nothing in the home folder"
