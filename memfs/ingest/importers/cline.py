"""Cline: the tasks that were given to it (see `task_folders`)."""

from memfs.ingest.importers.task_folders import TaskTool

_TOOL = TaskTool("cline")
NAME, find, sniff, read = _TOOL.name, _TOOL.find, _TOOL.sniff, _TOOL.read
