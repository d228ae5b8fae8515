"""The blocks with `enforce` that this user accepted to be in force, in the user's own store."""

import json

from memfs import files
from memfs.core import label as labels
from memfs.store import blocks, store_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.core.rule_scope import RuleScope
    from memfs.store.blocks import Place
    from memfs.store.store_paths import Store


def list_wanted(place: "Place") -> "list[tuple[str, RuleScope]]":
    """List (tier and label, scope) of the lasting blocks that are to be enforced."""
    found = []
    for block in blocks.load(place):
        if "enforce" not in block.meta or block.tier == labels.SESSION:
            continue
        scope = block.scope
        if scope.enforce and (scope.paths or scope.commands):
            found.append((labels.qualify(block.tier, block.label), scope))
    return found


def list_pending(place: "Place") -> "list[tuple[str, RuleScope]]":
    """List the blocks that are to be enforced, and were not accepted yet."""
    known = {tier: load_accepted(store) for tier, store in place.list_lasting_tiers()}
    return [
        (key, scope)
        for key, scope in list_wanted(place)
        if scope.sign(key) not in known[key.partition(":")[0]]
    ]


def load_accepted(store: "Store") -> dict[str, str]:
    """Map what was accepted of a store's blocks to the day of that."""
    return {str(key): str(day) for key, day in files.read_record(_get_path(store)).items()}


def accept(place: "Place", wanted: "list[tuple[str, RuleScope]]", day: str) -> None:
    """Accept blocks that are to be enforced, from a day on. Raises `OSError`."""
    from memfs.files import atomic  # hooks accept nothing

    for tier, store in place.list_lasting_tiers():
        signed = [scope.sign(key) for key, scope in wanted if key.startswith(f"{tier}:")]
        if signed:
            path = _get_path(store)
            files.make_folder(path.rpartition("/")[0], private=True)
            found = {**dict.fromkeys(signed, day), **load_accepted(store)}
            atomic.write(path, json.dumps(found), private=True)


def _get_path(store: "Store") -> str:
    folder = store.local if store.private else store_paths.trust_folder(store)
    return f"{folder}/enforced.json"
