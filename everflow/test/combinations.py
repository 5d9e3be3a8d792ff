"""Parameters for tests that run with all combinations of some values."""

from __future__ import annotations

import collections
import contextlib
import functools
import inspect
import itertools
from collections.abc import Callable
from typing import Any

from absl.testing import parameterized

import everflow as tf
from everflow.api import internal
from everflow.platform import version2_switch
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


@internal("framework.test_combinations.ParameterModifier")
class ParameterModifier:
    """Changes what a test is given; two that have the same name are one."""

    DO_NOT_PASS_TO_THE_TEST = object()

    def __init__(self, parameter_name: str | None = None) -> None:
        self._parameter_name = parameter_name

    def modified_arguments(self, kwargs: Any, requested_parameters: Any) -> Combination:
        """What replaces the arguments of these names; a test does not see those that become DO_NOT_PASS_TO_THE_TEST."""
        return {}

    def _key(self) -> Any:
        return id(self) if self._parameter_name is None else self._parameter_name

    def __eq__(self, other: object) -> bool:
        return self is other or type(other) is type(self) and self._key() == other._key()  # type: ignore[attr-defined]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._key())


@internal("framework.test_combinations.OptionalParameter")
class OptionalParameter(ParameterModifier):
    """An argument that a test may take or leave."""

    def modified_arguments(self, kwargs: Any, requested_parameters: Any) -> Combination:
        """Nothing, where the test asks for it."""
        return {} if self._parameter_name in requested_parameters else {str(self._parameter_name): self.DO_NOT_PASS_TO_THE_TEST}


@internal("framework.test_combinations.TestCombination")
class TestCombination:
    """What a kind of argument means: whether the test runs, in which surroundings, and what it is given."""

    __test__ = False

    def should_execute_combination(self, kwargs: Any) -> tuple[bool, str | None]:
        """Whether a test runs with these arguments, and if not, why."""
        return True, None

    def parameter_modifiers(self) -> list[Any]:
        """What changes the arguments."""
        return []

    def context_managers(self, kwargs: Any) -> list[Any]:
        """What is entered around the test."""
        return []


@internal("framework.combinations.EagerGraphCombination")
class EagerGraphCombination(TestCombination):
    """`mode` says whether a test builds a graph or runs at once."""

    def context_managers(self, kwargs: Any) -> list[Any]:
        """The mode."""
        mode = kwargs.get("mode")
        if mode not in (None, "eager", "graph"):
            raise ValueError(f"Argument 'mode' must be either 'eager' or 'graph'. Received: {mode}.")
        return [] if mode is None else [tf.Graph().as_default() if mode == "graph" else modes.EAGER_MODE()]

    def parameter_modifiers(self) -> list[Any]:
        """A test need not take the mode."""
        return [OptionalParameter("mode")]


@internal("framework.combinations.TFVersionCombination")
class TFVersionCombination(TestCombination):
    """`tf_api_version` says which of TensorFlow's versions a test is for."""

    def should_execute_combination(self, kwargs: Any) -> tuple[bool, str | None]:
        """Whether this is that version."""
        version = kwargs.get("tf_api_version")
        if version == 2 and not version2_switch.enabled():
            return False, "Skipping a TF2.x test when TF2.x behavior is disabled."
        if version == 1 and version2_switch.enabled():
            return False, "Skipping a TF1.x test when TF2.x behavior is enabled."
        return True, None

    def parameter_modifiers(self) -> list[Any]:
        """A test need not take the version."""
        return [OptionalParameter("tf_api_version")]


@internal("framework.test_combinations.generate")
def generate(combinations: list[Combination], test_combinations: Any = ()) -> Callable[[Any], Any]:
    """Makes a test of each combination; `test_combinations` say what the arguments mean."""
    named = [collections.OrderedDict([*c.items(), ("testcase_name", _named(c.items()))]) for c in combinations]

    def decorate(test: Any) -> Any:
        if isinstance(test, type):
            for name, method in list(vars(test).items()):
                if callable(method) and name.startswith("test"):
                    setattr(test, name, _in_surroundings(method, test_combinations))
            return parameterized.named_parameters(*named)(test)
        return parameterized.named_parameters(*named)(_in_surroundings(test, test_combinations))

    return decorate


# What `mode` and `tf_api_version` mean is known to all tests.
public_generate = internal("framework.combinations.generate")(
    functools.partial(generate, test_combinations=(EagerGraphCombination(), TFVersionCombination()))
)


def _in_surroundings(test: Callable[..., Any], test_combinations: Any) -> Callable[..., Any]:
    """The test, run as its arguments say."""
    taken = [name for name, p in inspect.signature(test).parameters.items() if p.kind is not p.VAR_KEYWORD]

    @functools.wraps(test)
    def run(self: Any, **kwargs: Any) -> None:
        for combination in test_combinations:
            runs, reason = combination.should_execute_combination(dict(kwargs))
            if not runs:
                self.skipTest(" - ".join(filter(None, [f"{type(combination).__name__}", reason])))
        modifiers: list[Any] = []
        for modifier in (m for combination in test_combinations for m in combination.parameter_modifiers()):
            if modifier not in modifiers:
                modifiers.append(modifier)
        given = dict(kwargs)
        with contextlib.ExitStack() as inside:
            for combination in test_combinations:
                for surrounding in combination.context_managers(dict(kwargs)):
                    inside.enter_context(surrounding)
            for modifier in modifiers:
                given.update(modifier.modified_arguments(dict(kwargs), taken))
            test(self, **{k: v for k, v in given.items() if v is not ParameterModifier.DO_NOT_PASS_TO_THE_TEST})

    del run.__wrapped__
    return run
