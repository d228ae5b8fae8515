"""Prints the environment of its process, however that was started."""

import json
import os
import sys


def main() -> None:
    told = [dict(os.environ), sys.flags.isolated, os.getpid() == os.getsid(0)]
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()
    sys.stdin.read()


def run_detached(path: str) -> None:
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        json.dump([dict(os.environ), sys.flags.isolated, os.getpid() == os.getsid(0)], file)
    os.rename(f"{path}.new", path)


if __name__ == "__main__":
    main()
