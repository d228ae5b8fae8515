"""How many examples the test of a property tries."""

import os

from hypothesis import HealthCheck, settings


def examples(count: int) -> settings:
    """Try so many examples, or a third of them where MEMFS_TEST_EXAMPLES is not `all`.

    A busy machine is no defect of what is tested, and a fixture may serve all examples.
    """
    return settings(
        max_examples=count if os.environ.get("MEMFS_TEST_EXAMPLES") == "all" else count // 3,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
