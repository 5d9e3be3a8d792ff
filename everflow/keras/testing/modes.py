"""Tests that run in every mode of Keras, and with every kind of model."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from absl.testing import parameterized

import everflow as tf
from everflow.api import internal
from everflow.eager.context import eager_mode, executing_eagerly, graph_mode
from everflow.keras.backend.session import clear_session


class _Settings:
    """What the models of a test are made and run like."""

    run_eagerly: bool | None = None
    run_tf_function: bool | None = None
    model_type: str | None = None


_settings = _Settings()


@contextlib.contextmanager
def _set(name: str, value: Any) -> Iterator[None]:
    before = getattr(_settings, name)
    setattr(_settings, name, value)
    try:
        yield
    finally:
        setattr(_settings, name, before)


@internal("keras.testing_utils.run_eagerly_scope")
def run_eagerly_scope(value: bool) -> Any:
    """Whether models run eagerly within the `with` block."""
    return _set("run_eagerly", value)


@internal("keras.testing_utils.experimental_run_tf_function_scope")
def experimental_run_tf_function_scope(value: bool) -> Any:
    """Whether models run as traced functions within the `with` block."""
    return _set("run_tf_function", value)


@internal("keras.testing_utils.model_type_scope")
def model_type_scope(value: str) -> Any:
    """Which kind of model is made within the `with` block."""
    return _set("model_type", value)


def _required(name: str, function: str, scope: str) -> Any:
    value = getattr(_settings, name)
    if value is None:
        raise ValueError(f"Cannot call `{function}()` outside of a `{scope}()` or `run_all_keras_modes` decorator.")
    return value


@internal("keras.testing_utils.should_run_eagerly")
def should_run_eagerly() -> bool:
    """Whether the test's models shall run eagerly."""
    return _required("run_eagerly", "should_run_eagerly", "run_eagerly_scope") and executing_eagerly()


@internal("keras.testing_utils.should_run_tf_function")
def should_run_tf_function() -> bool:
    """Whether the test's models shall run as traced functions."""
    return _required("run_tf_function", "should_run_tf_function", "experimental_run_tf_function_scope") and executing_eagerly()


@internal("keras.testing_utils.get_model_type")
def get_model_type() -> str:
    """Which kind of model the test shall make."""
    value = _settings.model_type
    if value is None:
        raise ValueError("Cannot call `get_model_type()` outside of a `model_type_scope()` or `run_with_all_model_types` decorator.")
    return value


@internal("keras.keras_parameterized.TestCase")
class TestCase(tf.test.TestCase, parameterized.TestCase):  # type: ignore[misc]
    """A test case that leaves no models behind."""

    def tearDown(self) -> None:
        clear_session()
        super().tearDown()


class Variants(list[Callable[..., Any]]):
    """The tests that one test becomes, each with its own name."""

    __name__ = "Variants"


def _tests(test: Any) -> list[tuple[str, Callable[..., Any]]]:
    """(name, function of a case) of what a test has become by now."""
    if isinstance(test, Variants):
        return [(t.__name__, t) for t in test]
    if isinstance(test, parameterized._ParameterizedTestIter):
        named = [t for t in test]
        return [(t.__name__ if hasattr(t, "__x_use_name__") else f"{t.__name__}{i}", t) for i, t in enumerate(named)]
    return [(test.__name__, test)]


def _each(test_or_class: Any, ways: list[tuple[str, Callable[..., Any]]]) -> Any:
    """A test, or all tests of a class, once in each way: (what the name ends in, runs the test)."""
    if isinstance(test_or_class, type):
        for name, value in list(vars(test_or_class).items()):
            if name.startswith("test") and (callable(value) or isinstance(value, Variants)) and name != "test_session":
                delattr(test_or_class, name)
                value.__name__ = name
                for made in _each(value, ways):
                    setattr(test_or_class, made.__name__, made)
        return test_or_class
    made = Variants()
    for name, test in _tests(test_or_class):
        for ending, run in ways:
            made.append(_variant(test, f"{name}_{ending}", run))
    return made


def _variant(test: Callable[..., Any], name: str, run: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(test)
    def ran(self: Any, *args: Any, **kwargs: Any) -> None:
        run(self, test, args, kwargs)

    ran.__name__ = name
    ran.__x_use_name__ = True  # type: ignore[attr-defined]
    return ran


def _applied(decorate: Callable[[Any], Any], test_or_class: Any) -> Any:
    return decorate if test_or_class is None else decorate(test_or_class)


@internal("keras.keras_parameterized.run_all_keras_modes")
def run_all_keras_modes(
    test_or_class: Any = None, config: Any = None, always_skip_v1: bool = False, always_skip_eager: bool = False
) -> Any:
    """The test once in a session, once eagerly, and twice as compiled functions of an eager program."""

    def in_session(self: Any, test: Any, args: Any, kwargs: Any) -> None:
        with (
            graph_mode(),
            run_eagerly_scope(False),
            experimental_run_tf_function_scope(False),
            self.test_session(use_gpu=True, config=config),
        ):
            test(self, *args, **kwargs)

    def eagerly(eager: bool, traced: bool) -> Callable[..., None]:
        def run(self: Any, test: Any, args: Any, kwargs: Any) -> None:
            with eager_mode(), run_eagerly_scope(eager), experimental_run_tf_function_scope(traced):
                test(self, *args, **kwargs)

        return run

    ways = [("v2_function", eagerly(False, True)), ("v2_funcgraph", eagerly(False, False))]
    if not always_skip_v1:
        ways.append(("v1_session", in_session))
    if not always_skip_eager:
        ways.append(("v2_eager", eagerly(True, True)))
    return _applied(lambda t: _each(t, ways), test_or_class)


@internal("keras.keras_parameterized.run_with_all_model_types")
def run_with_all_model_types(test_or_class: Any = None, exclude_models: Any = None) -> Any:
    """The test once with each kind of model."""
    excluded = [exclude_models] if isinstance(exclude_models, str) else exclude_models or []

    def with_type(kind: str) -> Callable[..., None]:
        def run(self: Any, test: Any, args: Any, kwargs: Any) -> None:
            with model_type_scope(kind):
                test(self, *args, **kwargs)

        return run

    ways = [(kind, with_type(kind)) for kind in ("functional", "subclass", "sequential") if kind not in excluded]
    return _applied(lambda t: _each(t, ways), test_or_class)
