"""What the rest of memfs knows of imports and exports."""

from memfs.importers import exporting, importing, undo

__all__ = ["exporting", "importing", "undo"]
