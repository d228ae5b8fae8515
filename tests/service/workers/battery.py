"""A worker on a machine that runs on a battery: `BATTERY` names the folder of its supplies."""

import os

from memfs.service import throttle, worker


def main() -> None:
    os.getloadavg = lambda: (0.0, 0.0, 0.0)
    throttle.SUPPLIES = f"{os.environ['BATTERY']}/*"
    worker.BATCH = int(os.environ.get("BATCH", worker.BATCH))
    worker.main()
