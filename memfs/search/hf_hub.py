"""Models of the Hugging Face hub: those in its local cache, and their download.

Only `fetch`, which a user runs, downloads anything.
"""

from __future__ import annotations

import os
import re

from memfs.core.errors import MemfsError, NotFoundError
from memfs.files import account, outside
from memfs.search import model_files

_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_INSTALL = "install it (pip install huggingface_hub), or put the files into a folder and name that"


def find_model(name: str) -> str:
    """Return the folder of a model in the local cache; raises `NotFoundError` if it is missing."""
    top = f"{cache()}/models--{name.replace('/', '--')}"
    try:
        revision = (outside.read(f"{top}/refs/main", cap=200) or "").strip()
    except OSError:
        revision = ""
    folder = f"{top}/snapshots/{revision}"
    if not _REVISION.fullmatch(revision) or not os.path.isdir(folder):
        raise NotFoundError(
            f"the embedding model {name} is not on this machine", f"memfs model fetch {name}"
        )
    return folder


def cache() -> str:
    """Return the folder of the hub's local cache."""
    for variable, below in (
        ("HF_HUB_CACHE", ""),
        ("HUGGINGFACE_HUB_CACHE", ""),
        ("HF_HOME", "/hub"),
        ("XDG_CACHE_HOME", "/huggingface/hub"),
    ):
        value = os.path.expandvars(os.path.expanduser(os.environ.get(variable) or ""))
        if value and not account.is_of_project(value, os.getcwd()):
            return value + below
    return os.path.expanduser("~/.cache/huggingface/hub")


def fetch(name: str) -> str:
    """Download a model into the hub's cache, and return its folder.

    Nothing else downloads anything. Raises `MemfsError` if the download fails.
    """
    try:
        import huggingface_hub  # an extra that may be missing
    except ImportError as error:
        raise MemfsError(
            "downloading a model takes the package huggingface_hub", _INSTALL
        ) from error
    try:
        folder = huggingface_hub.snapshot_download(name, allow_patterns=list(model_files.FILES))
    except Exception as error:
        reason = str(error).strip().split("\n")[0][:300] or type(error).__name__
        raise MemfsError(
            f"{name} could not be downloaded: {reason}",
            "see that the name is right and the network is there",
        ) from error
    return str(folder)
