"""Parameters for tests that run with all combinations of some values."""
from __future__ import annotations

import collections
import itertools
from typing import Any

from everflow.api import internal


def _letters(value: Any) -> str:
    return "".join(filter(str.isalnum, str(value)))


@internal("framework.test_util.generate_combinations_with_testcase_name")
def generate_combinations_with_testcase_name(**kwargs: Any) -> list[dict[str, Any]]:
    """Dicts for `parameterized.named_parameters`: `a=[1, 2], b=3` gives `_test_a_1_b_3` and `_test_a_2_b_3`."""
    choices = [[(k, v) for v in (vs if isinstance(vs, list) else [vs])] for k, vs in sorted(kwargs.items())]
    found: list[dict[str, Any]] = []
    for chosen in itertools.product(*choices):
        name = "".join(f"_{_letters(key)}_{_letters(value)}" for key, value in chosen)
        found.append(collections.OrderedDict([*chosen, ("testcase_name", f"_test{name}")]))
    return found
