"""Collects what the tests show of each assistant, for `--matrix FILE` (see `matrix`)."""

from pathlib import Path
from typing import Final

import pytest

from tests.hosts import matrix
from tests.hosts.matrix import Shown

_PROPERTY: Final = "behaviour"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--matrix", metavar="FILE", help="write what was shown of each assistant")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_Collector(config))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Note at each test what it shows: with its report that gets from a worker to where it is kept."""
    for item in items:
        shown: dict[str, tuple[str, str]] = {}
        # Where a parameter's mark says what it lacks, the function's does not count.
        for mark in sorted(
            item.iter_markers(_PROPERTY), key=lambda mark: "lacks" not in mark.kwargs
        ):
            host = mark.kwargs.get("host") or _host(item)
            for each in mark.args:
                shown.setdefault(each, (host, mark.kwargs.get("lacks", "")))
        item.user_properties += [(_PROPERTY, [each, *said]) for each, said in shown.items()]


def _host(item: pytest.Item) -> str:
    assert isinstance(item, pytest.Function)
    host = item.callspec.params["host"]
    return str(getattr(host, "name", host))


class _Collector:
    """Keeps the outcomes; writes them when the run is over, in the process that has them all."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._found: dict[tuple[str, str, str, str], bool] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, said in report.user_properties:
            if name == _PROPERTY and isinstance(said, list):
                behaviour, host, lacks = said
                key = (report.nodeid, behaviour, host, lacks)
                passed = report.passed and not hasattr(report, "wasxfail")
                self._found[key] = self._found.get(key, True) and passed

    def pytest_sessionfinish(self) -> None:
        path = self._config.getoption("--matrix", None)
        if path and not hasattr(self._config, "workerinput"):
            shown = [Shown(*key[1:], passed) for key, passed in self._found.items()]
            matrix.write(Path(path), shown)
