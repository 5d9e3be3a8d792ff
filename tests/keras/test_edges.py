"""Edges of Keras that a real TensorFlow shows only with more machinery: GPUs, servers, logs, code of other Pythons."""

import collections
import glob
import json
import logging
import types

import numpy as np
import pytest

import everflow as tf
from everflow.keras import multi_gpu
from everflow.keras.applications import resnet
from everflow.keras.callbacks import reports
from everflow.keras.function_code import described, found, func_load
from everflow.keras.losses.names import is_categorical_crossentropy
from everflow.keras.metrics.base import clone_metrics
from everflow.keras.mixed_precision.autocast_variable import create_autocast_variable
from everflow.keras.saving.configs import as_json
from everflow.keras.testing.layer_checks import disable_v2_dtype_behavior, enable_v2_dtype_behavior
from everflow.keras.testing.models import get_small_sequential_mlp
from everflow.keras.v2_dtypes import _State, v2_dtype_behavior_enabled
from everflow.keras.v2_dtypes import disable_v2_dtype_behavior as disable_v2_dtypes
from everflow.keras.v2_dtypes import enable_v2_dtype_behavior as enable_v2_dtypes

K, L, keras = tf.keras.backend, tf.keras.layers, tf.keras


def some(*shape):
    return np.sin(np.arange(np.prod(shape, dtype=int))).reshape(shape).astype(np.float32)


X, Y = some(4, 2), some(4, 1)


def model(units=1, **kwargs):
    made = keras.Sequential([L.Dense(units, kernel_initializer="ones", input_shape=(2,), **kwargs)])
    made.compile(keras.optimizers.SGD(0.1), "mse")
    return made


@pytest.fixture
def three_gpus(monkeypatch):
    """A machine that says it has three GPUs; what is put on them runs elsewhere."""
    monkeypatch.setattr(multi_gpu, "_available", lambda: ["/cpu:0", "/gpu:0", "/gpu:1", "/gpu:2"])


@pytest.mark.parametrize("rows", [1, 4, 5, 6])
@pytest.mark.parametrize("gpus", [2, 3, [0, 2]])
def test_each_gpu_gets_its_part_of_a_batch(three_gpus, gpus, rows):
    single = model(2)
    parallel = keras.utils.multi_gpu_model(single, gpus)
    np.testing.assert_allclose(parallel.predict(some(rows, 2)), single.predict(some(rows, 2)), rtol=1e-6)
    assert parallel.output_names == ["dense"] and parallel.output_shape == (None, 2)


def test_models_with_several_inputs_and_outputs_are_split_too(three_gpus):
    a, b = keras.Input((2,)), keras.Input((2,))
    single = keras.Model([a, b], [L.Add(name="sum")([a, b]), L.Dense(1, name="one")(a)])
    parallel = keras.utils.multi_gpu_model(single, 2, cpu_merge=False)
    for found_, wanted in zip(parallel.predict([X, 2 * X]), single.predict([X, 2 * X])):
        np.testing.assert_allclose(found_, wanted, rtol=1e-6)
    assert parallel.output_names == ["sum", "one"]


def test_variables_of_parallel_models_may_move_to_the_processor(three_gpus):
    single = model()
    moved = keras.utils.multi_gpu_model(single, 2, cpu_relocation=True)
    assert all(v not in single.weights for v in moved.weights) and len(moved.weights) == 2
    assert {v.device for v in moved.weights} == {"/device:CPU:0"}
    kept = keras.utils.multi_gpu_model(single, 2)
    assert [id(v) for v in kept.weights] == [id(v) for v in single.weights]


@pytest.mark.parametrize(
    ("name", "depths"),
    [
        ("ResNet50", (3, 4, 6, 3)),
        ("ResNet101", (3, 4, 23, 3)),
        ("ResNet152", (3, 8, 36, 3)),
        ("ResNet50V2", (3, 4, 6, 3)),
        ("ResNet101V2", (3, 4, 23, 3)),
        ("ResNet152V2", (3, 8, 36, 3)),
    ],
)
def test_residual_networks_differ_in_the_depths_of_their_stages(monkeypatch, name, depths):
    seen = []
    for function in [n for n in vars(resnet) if n.startswith("_resnet") or n == "_residual"]:
        monkeypatch.setattr(resnet, function, lambda *given, **named: seen.append((given, named)))
    getattr(keras.applications, name)()
    assert any(depths in (*given, *named.values()) for given, named in seen)


class Server:
    """A client of a server that keeps what it is sent, or is not there."""

    exceptions = types.SimpleNamespace(RequestException=ConnectionError)

    def __init__(self, there=True):
        self.there, self.sent = there, []

    def post(self, *args, **kwargs):
        if not self.there:
            raise ConnectionError
        self.sent.append((args, kwargs))


def test_epochs_are_sent_to_a_server(monkeypatch):
    server = Server()
    monkeypatch.setitem(reports.NAMES, "python.keras.callbacks.requests", server)
    keras.callbacks.RemoteMonitor().on_epoch_end(3, {"loss": np.float32(0.5), "list": np.array([2]), "text": "a"})
    keras.callbacks.RemoteMonitor("http://here", "/there", headers={"a": "b"}, send_as_json=True).on_epoch_end(1)
    sent = {"epoch": 3, "loss": 0.5, "list": 2, "text": "a"}
    assert server.sent[0] == (("http://localhost:9000/publish/epoch/end/", {"data": json.dumps(sent)}), {"headers": None})
    assert server.sent[1] == (("http://here/there",), {"json": {"epoch": 1}, "headers": {"a": "b"}})


def test_a_server_that_is_not_there_stops_nothing(monkeypatch):
    monkeypatch.setitem(reports.NAMES, "python.keras.callbacks.requests", Server(there=False))
    keras.callbacks.RemoteMonitor().on_epoch_end(0, {})
    monkeypatch.setitem(reports.NAMES, "python.keras.callbacks.requests", None)
    with pytest.raises(ImportError, match="requires the `requests` library"):
        keras.callbacks.RemoteMonitor().on_epoch_end(0, {})


def module_function(x):
    return x + 1


def test_functions_are_described_by_their_code_or_their_name():
    code, kind, module = described(module_function)
    assert (kind, module) == ("lambda", __name__) and func_load(code)(1) == 2
    assert described(len) == ("len", "function", "builtins")
    assert found("len", "function", "builtins", None) is len
    assert found("mine", "function", "builtins", {"mine": module_function}) is module_function
    assert found(code, "lambda", "no.such.module", None)(2) == 3
    with pytest.raises(TypeError, match="Unknown function type"):
        found(code, "method", __name__, None)
    with pytest.raises(ValueError, match="written by another version of Python"):
        func_load(("AAAA", None, None))


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (np.float32(2.0), 2.0),
        (np.arange(2), [0, 1]),
        (tf.TensorShape([1, None]), [1, None]),
        (tf.Dimension(3), 3),
        (tf.float32, "float32"),
        (len, "len"),
        (collections.OrderedDict(a=1), {"a": 1}),
        (frozenset([4]), [4]),
        (range(2), [0, 1]),
        (keras.initializers.Ones(), {"class_name": "Ones", "config": {"dtype": "float32"}}),
    ],
)
def test_configs_hold_what_json_has_no_form_for(value, written):
    assert as_json(value) == written
    assert type(as_json(value)) is type(written)


def test_what_has_no_form_at_all_is_not_written():
    with pytest.raises(TypeError, match="Not JSON Serializable"):
        as_json(object())


def test_tests_may_ask_for_either_way_to_find_types():
    seen = []

    def noted(*args, **kwargs):
        """What is noted."""
        seen.append((v2_dtype_behavior_enabled(), args, kwargs))
        return 7

    assert enable_v2_dtype_behavior(noted)(1, a=2) == 7 and disable_v2_dtype_behavior(noted)() == 7
    assert seen == [(True, (1,), {"a": 2}), (False, (), {})]
    assert enable_v2_dtype_behavior(noted).__name__ == "noted" and not v2_dtype_behavior_enabled()


def test_types_may_be_found_either_way_from_now_on():
    try:
        enable_v2_dtypes()
        assert v2_dtype_behavior_enabled() and L.Dense(1).dtype == "float32"
        disable_v2_dtypes()
        assert not v2_dtype_behavior_enabled() and L.Dense(1).dtype is None
    finally:
        _State.enabled = None


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        ("categorical_crossentropy", True),
        (keras.losses.categorical_crossentropy, True),
        (keras.losses.CategoricalCrossentropy(), True),
        ("mse", False),
        (keras.losses.mse, False),
        (keras.losses.MeanSquaredError(), False),
        (3, False),
    ],
)
def test_categorical_crossentropy_is_known_in_each_form(loss, expected):
    assert bool(is_categorical_crossentropy(loss)) is expected


def test_metrics_are_copied_with_their_arguments():
    first, second = clone_metrics([keras.metrics.AUC(num_thresholds=3, name="area"), keras.metrics.Mean()])
    assert (first.num_thresholds, first.name, type(second)) == (3, "area", keras.metrics.Mean)


def test_small_models_have_the_sizes_that_are_asked_for():
    made = get_small_sequential_mlp(5, 3, input_dim=2)
    assert [w.shape.as_list() for w in made.weights] == [[2, 5], [5], [5, 3], [3]]


def test_variables_of_half_precision_are_gathered_as_they_are_read(session):
    variable = create_autocast_variable(tf.Variable([1.0, 2.0, 3.0], use_resource=True))
    with tf.get_default_graph()._enable_auto_casting_variables("float16"):
        rows, picked = variable.sparse_read([2, 0]), variable.gather_nd([[1]])
    session.run(variable.initializer)
    assert rows.dtype == picked.dtype == tf.float16
    assert session.run([rows, picked])[0].tolist() == [3, 1] and session.run(picked).tolist() == [2]


def test_variables_of_half_precision_show_both_types(eager):
    variable = create_autocast_variable(tf.Variable([1.5]))
    assert (
        repr(variable) == "<AutoCastVariable 'Variable:0' shape=(1,) dtype=float32 true_dtype=float32, numpy=array([1.5], dtype=float32)>"
    )


@pytest.fixture
def warnings_of_tf(caplog):
    """The warnings that TensorFlow's log gets."""
    logger = logging.getLogger("tensorflow")
    logger.propagate, before = True, logger.propagate
    yield lambda: [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    logger.propagate = before


@pytest.mark.parametrize(("activation", "warns"), [(None, True), ("sigmoid", False)])
def test_probabilities_that_are_none_are_warned_of(warnings_of_tf, activation, warns):
    model(activation=activation).predict_proba(X)
    assert any("invalid probability values" in text for text in warnings_of_tf()) is warns


def test_streams_that_end_early_are_warned_of(warnings_of_tf):
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(2)
    model().fit(data, steps_per_epoch=3, epochs=2, verbose=0)
    assert any("Your dataset ran out of data" in text and "6 batches" in text for text in warnings_of_tf())


def test_variables_without_a_gradient_are_warned_of(eager, warnings_of_tf):
    first, second = tf.Variable(1.0, name="first"), tf.Variable(1.0, name="second")
    keras.optimizers.SGD(0.5).apply_gradients([(tf.constant(1.0), first), (None, second)])
    assert (first.numpy(), second.numpy()) == (0.5, 1.0)
    assert any("['second:0']" in text and "do not exist" in text for text in warnings_of_tf())


class Values(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        logs.update(size=3, batch=4, num_steps=5, own=6.0)


@pytest.mark.parametrize(("freq", "steps"), [("epoch", [0, 1]), ("batch", [4, 8]), (4, [4, 8])])
def test_boards_get_what_epochs_say_and_no_sizes(tmp_path, freq, steps):
    board = keras.callbacks.TensorBoard(str(tmp_path), update_freq=freq, write_graph=False)
    model().fit(X, Y, batch_size=2, epochs=2, verbose=0, callbacks=[Values(), board])
    found_ = collections.defaultdict(list)
    for path in glob.glob(str(tmp_path / "**" / "*events*"), recursive=True):
        for event in tf.train.summary_iterator(path):
            for value in event.summary.value:
                found_[value.tag].append(event.step)
    assert sorted(tag for tag in found_ if tag.startswith("epoch_")) == ["epoch_loss", "epoch_own"]
    assert found_["epoch_own"] == steps
    assert ("batch_loss" in found_) is (freq != "epoch")


def test_boards_get_the_graph_where_it_is_asked_for(tmp_path):
    for name, wanted in (("with", True), ("without", False)):
        board = keras.callbacks.TensorBoard(str(tmp_path / name), write_graph=wanted)
        model().fit(X, Y, verbose=0, callbacks=[board])
        files = glob.glob(str(tmp_path / name / "**" / "*events*"), recursive=True)
        assert any(event.graph_def for path in files for event in tf.train.summary_iterator(path)) is wanted
