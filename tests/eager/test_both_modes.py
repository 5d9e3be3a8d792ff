"""Public functions of one tensor give the same in both modes."""

import inspect
import warnings

import numpy as np
import pytest

import everflow as tf
from everflow import nest
from everflow.eager.context import eager_mode

MODULES = ("math", "nn", "linalg", "strings", "image", "signal", "sparse", "ragged", "bitwise", "debugging", "io", "")
VALUES = (
    np.arange(1, 5, dtype=np.float32).reshape(2, 2) / 7,
    np.array([0, 1, 2], np.int32),
    np.array(["ab", "c d"], object),
    np.arange(48, dtype=np.float32).reshape(1, 4, 4, 3) / 50,
    np.array([True, False]),
    np.array([1 + 2j, 3j], np.complex64),
)
# What differs by its nature: random numbers, the mode itself, the clock, and what changes how the rest of the program runs.
OTHER = (
    "random",
    "eager",
    "timestamp",
    "shuffle",
    "dropout",
    "enable_",
    "disable_",
    "multinomial",
    "seed",
    "print",
    "session",
    "collection",
)


def _functions():
    found = {}
    for module in MODULES:
        space = getattr(tf, module) if module else tf
        for name in dir(space):
            if name.startswith("_") or any(part in name for part in OTHER):
                continue
            function = getattr(space, name)
            if not inspect.isfunction(function):
                continue
            required = [
                p
                for p in inspect.signature(function).parameters.values()
                if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
            ]
            if len(required) == 1 and required[0].name not in ("name", "f", "fn", "func", "target", "graph", "path", "filename", "pattern"):
                found[f"{module}.{name}".lstrip(".")] = function
    return found


def _value(function, value, evaluate):
    try:
        found = function(value)
        tensors = [t for t in nest.flatten(found, expand_composites=True) if isinstance(t, tf.Tensor)]
        return [evaluate(t) for t in tensors] if tensors else None
    except Exception:
        return None


def test_functions_of_one_tensor_agree():
    agreed, only_in_graphs = set(), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, function in _functions().items():
            for value in VALUES:
                with tf.Graph().as_default(), tf.Session() as session:
                    in_graph = _value(function, value, session.run)
                if in_graph is None:
                    continue
                with tf.Graph().as_default(), eager_mode():
                    at_once = _value(function, value, lambda t: t.numpy())
                if at_once is None:
                    only_in_graphs.append((name, value))
                    continue
                for a, b in zip(in_graph, at_once, strict=True):
                    if isinstance(a, np.ndarray) and a.dtype == tf.bfloat16.as_numpy_dtype:
                        a, b = a.astype(np.float32), b.astype(np.float32)  # numpy 1.26 compares no others
                    if np.asarray(a).dtype.kind in "OSU":
                        assert np.array_equal(a, b), name
                    else:
                        np.testing.assert_allclose(a, b, rtol=1e-5, err_msg=name)
                agreed.add(name)
    assert not only_in_graphs
    assert len(agreed) > 150


def test_functions_of_two_tensors_agree():
    pairs = (
        "add",
        "subtract",
        "multiply",
        "divide",
        "maximum",
        "minimum",
        "pow",
        "floordiv",
        "mod",
        "greater",
        "equal",
        "squared_difference",
        "math.atan2",
        "math.igamma",
        "matmul",
        "linalg.solve",
        "math.zeta",
        "truediv",
        "math.xdivy",
    )
    x, y = VALUES[0] + 1, VALUES[0][::-1] + 2
    for name in pairs:
        function = tf
        for part in name.split("."):
            function = getattr(function, part)
        with tf.Graph().as_default(), tf.Session() as session:
            in_graph = session.run(function(tf.constant(x), y))
        with tf.Graph().as_default(), eager_mode():
            assert function(tf.constant(x), y).numpy() == pytest.approx(in_graph, rel=1e-5), name


def test_a_function_without_results_is_an_op_of_a_graph(session):
    v = tf.get_variable("v", initializer=1.0, use_resource=True)

    @tf.function
    def add(x):
        v.assign_add(x)

    @tf.function
    def twice(x):
        assert isinstance(add(x), tf.Operation)
        add(x)

    session.run(v.initializer)
    for call in (add(2.0), tf.contrib.eager.defun(add.python_function)(tf.constant(3.0)), twice(10.0)):
        assert isinstance(call, tf.Operation) and call.type == "StatefulPartitionedCall"
        session.run(call)
    assert session.run(v) == 26 and call.name == "PartitionedFunctionCall_2"
