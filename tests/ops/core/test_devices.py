"""Kernels compute where their inputs are: tried on torch's `meta` device, which has shapes and no numbers, as there may be no GPU."""

import json
import pathlib
import re
import sys

import pytest
import torch

import everflow as tf

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "tools"))
import compare_ops

# What a kernel says that reads numbers: sizes and axes, which TensorFlow keeps on the host too, or values that decide the result's shape.
READS = re.compile(r"meta tensor|out of meta|meta device type|_local_scalar_dense|data-dependent|data-independent")
# What torch says where it can't compute on this device.
LACKS = re.compile(r"'Meta' backend|is not implemented for|aten::")
# These answer with what is known of their inputs on the host.
TELL_SIZES = {
    "AllCandidateSampler",
    "BroadcastArgs",
    "BroadcastGradientArgs",
    "ConcatOffset",
    "FakeParam",
    "FloatOutput",
    "IntOutput",
    "Rank",
    "Shape",
    "ShapeN",
    "Size",
}


def steps_of(name, definition, wanted=2, tries=8):
    """Compiled steps of random calls of an op, with the values that it was fed."""
    found = []
    for call in compare_ops.drawn(name, definition, tries, seed=7):
        arrays = [a for v in call.inputs.values() for a in (v if isinstance(v, list) else [v])]
        if not arrays or any(a.dtype == object for a in arrays):
            continue
        feeds = {}

        def fed(array):
            tensor = tf.placeholder(tf.string if array.dtype == object else array.dtype, array.shape)
            feeds[tensor] = array  # noqa: B023
            return tensor

        with tf.Graph().as_default(), tf.Session() as session:
            try:
                given = {k: [fed(a) for a in v] if isinstance(v, list) else fed(v) for k, v in call.inputs.items()}
                outputs = tf.contrib.framework.nest.flatten(getattr(tf.raw_ops, name)(**given, **call.attrs))
                session.run(outputs, feeds)
            except (tf.errors.OpError, ValueError, TypeError, LookupError, ArithmeticError):
                continue
            runner = session._runner(outputs, feeds)
            values = runner.prepared(feeds)
        if all(isinstance(v, torch.Tensor) for v in values):
            found.append((runner.step, values))
            if len(found) == wanted:
                break
    return found


def outcome(step, values):
    try:
        results = step.call(*(v.to("meta") for v in values))
    except Exception as error:
        if READS.search(str(error)):
            return "reads numbers"
        if LACKS.search(str(error)):
            return "torch can't"
        return f"{type(error).__name__}: {error}"
    places = {r.device.type for r in results if isinstance(r, torch.Tensor)}
    return "stays" if places <= {"meta"} else "comes back on the host"


@pytest.fixture(scope="module")
def outcomes():
    definitions = json.loads(compare_ops.FACTS.read_text())
    found = {}
    for name in sorted(definitions):
        if compare_ops.is_plain(name, definitions[name]):
            for step, values in steps_of(name, definitions[name]):
                found.setdefault(name, set()).add(outcome(step, values))
    return found


def test_kernels_stay_on_the_device_of_their_inputs(outcomes):
    fine = {"stays", "reads numbers", "torch can't"}
    wrong = {name: sorted(said - fine) for name, said in outcomes.items() if said - fine and name not in TELL_SIZES}
    assert not wrong


def test_most_kernels_need_no_number_on_the_host(outcomes):
    assert sum("stays" in said for said in outcomes.values()) > 150
    for name in ("AddV2", "BiasAdd", "MatMul", "Mul", "Relu", "Softmax", "Tanh", "Transpose"):
        assert outcomes.get(name, {"stays"}) <= {"stays", "reads numbers"}, name
