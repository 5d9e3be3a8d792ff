"""Parameters for tests that run with all combinations of some values."""

from __future__ import annotations

import collections
import functools
import inspect
import itertools
from collections.abc import Callable
from typing import Any

from absl.testing import parameterized

import everflow as tf
from everflow.api import internal
from everflow.test import modes

Combination = dict[str, Any]


def _letters(value: Any) -> str:
    return "".join(filter(str.isalnum, str(value)))


def _named(chosen: Any) -> str:
    return "_test" + "".join(f"_{_letters(key)}_{_letters(value)}" for key, value in chosen)


@internal("framework.test_util.generate_combinations_with_testcase_name")
def generate_combinations_with_testcase_name(**kwargs: Any) -> list[dict[str, Any]]:
    """Dicts for `parameterized.named_parameters`: `a=[1, 2], b=3` gives `_test_a_1_b_3` and `_test_a_2_b_3`."""
    return [collections.OrderedDict([*c.items(), ("testcase_name", _named(c.items()))]) for c in combine(**kwargs)]


@internal("framework.test_combinations.combine", "framework.combinations.combine")
def combine(**kwargs: Any) -> list[Combination]:
    """All choices of one value for each argument."""
    choices = [[(k, v) for v in (vs if isinstance(vs, list) else [vs])] for k, vs in sorted(kwargs.items())]
    return [collections.OrderedDict(chosen) for chosen in itertools.product(*choices)]


@internal("framework.test_combinations.times", "framework.combinations.times")
def times(*combined: list[Combination]) -> list[Combination]:
    """Each combination of the first list with each of the others."""
    found = []
    for parts in itertools.product(*combined):
        joined: Combination = collections.OrderedDict()
        for part in parts:
            if set(part) & set(joined):
                raise ValueError(f"Keys need to not overlap: {list(joined)} vs {list(part)}")
            joined.update(part)
        found.append(joined)
    return found


@internal("framework.test_combinations.NamedObject", "framework.combinations.NamedObject")
class NamedObject:
    """A value with a name to show in a test's name; otherwise it is as the value."""

    def __init__(self, name: str, obj: Any) -> None:
        self._name = name
        self._obj = obj

    def __getattr__(self, name: str) -> Any:
        return getattr(self._obj, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._obj(*args, **kwargs)

    def __iter__(self) -> Any:
        return iter(self._obj)

    def __repr__(self) -> str:
        return self._name


@internal("framework.combinations.generate", "framework.test_combinations.generate")
def generate(combinations: list[Combination], test_combinations: Any = ()) -> Callable[[Any], Any]:
    """Makes a test of each combination. `mode` and `tf_api_version` say how it runs; a test may take them or not."""
    named = [collections.OrderedDict([*c.items(), ("testcase_name", _named(c.items()))]) for c in combinations]

    def decorate(test: Callable[..., Any]) -> Any:
        taken = set(inspect.signature(test).parameters)

        @functools.wraps(test)
        def run(self: Any, **kwargs: Any) -> None:
            mode, version = kwargs.get("mode", "graph"), kwargs.get("tf_api_version", 1)
            if version == 2:
                self.skipTest("Test is only compatible with v2")
            with _in_mode(self, mode):
                test(self, **{k: v for k, v in kwargs.items() if k in taken})

        del run.__wrapped__
        return parameterized.named_parameters(*named)(run)

    return decorate


def _in_mode(case: Any, mode: str) -> Any:
    if mode == "graph":
        return tf.Graph().as_default()
    return modes.EAGER_MODE()
