"""Throttling of heavy work while the machine is on battery or under load."""

import glob
import os
import time
from collections.abc import Callable
from contextlib import suppress

from memfs.store import config, store_paths
from memfs.store.blocks import Place

LONGEST = 600.0  # seconds that a job waits at most
SUPPLIES = "/sys/class/power_supply/*"


def wait_for_room(pause: Callable[[str], object], until: float) -> None:
    """Call `pause` with the reason while there is one, until a monotonic time."""
    while time.monotonic() < until and (why := find_reason()):
        pause(why)


def find_reason() -> str:
    """Return why heavy work should wait: battery, load, or ""."""
    with suppress(OSError):
        settings = config.load(Place(None, store_paths.user_store()))
        if settings.get("service.pause") in ("off", False):
            return ""
    if on_battery(SUPPLIES):
        return "battery"
    with suppress(OSError, AttributeError):  # it is unknown
        return "load" if os.getloadavg()[0] > 2 * (os.cpu_count() or 1) else ""
    return ""


def on_battery(supplies: str) -> bool:
    """Return whether the machine runs on its battery; False if unknown (all but Linux)."""
    battery = False
    for folder in glob.glob(supplies):
        with suppress(OSError), open(f"{folder}/type", encoding="ascii") as handle:
            kind = handle.read().strip()
            if kind in ("Mains", "USB") and _read(f"{folder}/online") == "1":
                return False
            scope = _read(f"{folder}/scope")  # of a mouse or the like: Device
            battery |= (
                kind == "Battery"
                and scope != "Device"
                and (_read(f"{folder}/status") == "Discharging")
            )
    return battery


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii") as handle:
            return handle.read().strip()
    except OSError:
        return ""
