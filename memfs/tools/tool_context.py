"""The context of tool calls: the place, the origin, and an index that stays open between calls."""

from memfs.core.errors import StoreError
from memfs.store import blocks, store_paths
from memfs.store.blocks import Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.core.records import Origin
    from memfs.recall.open_store import OpenStore


class ToolContext:
    """The memory of one assistant's session. The store is looked up at each call.

    It may be deleted, restored, or made meanwhile. With `chosen` that place is used instead.
    """

    def __init__(
        self, folder: str, origin: "Origin | None" = None, chosen: Place | None = None
    ) -> None:
        self.folder = folder
        self.chosen = chosen
        self._origin = origin
        self._index: tuple[object, OpenStore] | None = None

    @property
    def origin(self) -> "Origin":
        """The origin of its edits; of an agent, where none was given."""
        if self._origin is None:
            from memfs.core.records import Origin  # with dataclasses, which a list does not need

            self._origin = Origin("agent")
        return self._origin

    @origin.setter
    def origin(self, origin: "Origin") -> None:
        self._origin = origin

    def find(self) -> Place | None:
        """Return the trusted stores that serve the folder, None if there is none."""
        session = self._origin.session if self._origin else ""
        return self.chosen or blocks.find_serving(self.folder, session)

    def place(self) -> Place:
        """Return the trusted stores that serve the folder. Raises `StoreError` if there is none."""
        found = self.find()
        if found is not None:
            from contextlib import suppress  # what only looks for a place does without

            from memfs.context import brief_contents  # likewise

            with suppress(OSError):  # a store that cannot be written can be read
                brief_contents.create_scratch_block(found)
            return found
        source = self.find_off_switch()
        if source:
            raise StoreError(
                f"memory is turned off here by {source}",
                "continue without memory; only the user can turn memory back on",
            )
        if store_paths.find(self.folder) is not None:
            raise StoreError(
                "the memory of this project is not trusted yet",
                "ask the user to run memfs trust and review the memory that came with the project",
            )
        raise StoreError(
            f"there is no memory for {self.folder}",
            "ask the user to run memfs init in the project's folder",
        )

    def find_off_switch(self) -> str:
        """Return what turns memory off here (see `blocks.find_off_switch`)."""
        project, user = store_paths.find(self.folder), store_paths.user_store()
        return blocks.find_off_switch(blocks.Place(project, user))

    def with_reason(self, reason: object) -> "Origin":
        """Return the origin, with a reason if one is given."""
        return self.origin._replace(reason=str(reason)) if reason else self.origin

    def index(self) -> "OpenStore":
        """Return the index of the place, opened once."""
        from memfs.recall.open_store import OpenStore  # edits need no index

        place = self.place()
        same = (place.home.root, place.user.root if place.user else "")
        if self._index is None or self._index[0] != same:
            self._index = (same, OpenStore(place))
        return self._index[1]
