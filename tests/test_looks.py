"""Public functions and classes look to other libraries as TensorFlow's do."""

import copy
import importlib
import inspect
import json
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import everflow as tf
from everflow import alias, api, looks
from everflow.eager.context import eager_mode
from everflow.keras.losses import functions as losses


@pytest.fixture
def as_tensorflow():
    alias.install()
    yield
    alias.remove()


def everflow(*arguments: object) -> str:
    done = subprocess.run([sys.executable, "-m", "everflow", "run", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_classes_and_functions_have_their_own_names_at_first():
    assert str(tf.Tensor) == "<class 'everflow.graph.tensor.Tensor'>"
    assert pickle.loads(pickle.dumps(tf.reduce_sum)) is tf.reduce_sum


def test_classes_and_functions_say_that_they_are_tensorflows(as_tensorflow):
    with eager_mode():
        eager = tf.constant(1)
    with tf.Graph().as_default() as graph, tf.Session() as session:
        variable, resource = tf.Variable(1), tf.get_variable("x", [], use_resource=True)
        things = [
            graph,
            session,
            variable,
            resource,
            tf.constant(1),
            eager,
            tf.float32,
            tf.data.Dataset.range(1),
            tf.keras.Sequential(),
            tf.TensorShape([]),
            tf.layers.Dense(1),
            tf.train.AdamOptimizer(),
        ]
    assert [f"{type(x).__module__}.{type(x).__name__}" for x in things] == [
        "tensorflow.python.framework.ops.Graph",
        "tensorflow.python.client.session.Session",
        "tensorflow.python.ops.variables.RefVariable",
        "tensorflow.python.ops.resource_variable_ops.ResourceVariable",
        "tensorflow.python.framework.ops.Tensor",
        "tensorflow.python.framework.ops.EagerTensor",
        "tensorflow.python.framework.dtypes.DType",
        "tensorflow.python.data.ops.dataset_ops.DatasetV1Adapter",
        "tensorflow.python.keras.engine.sequential.Sequential",
        "tensorflow.python.framework.tensor_shape.TensorShape",
        "tensorflow.python.layers.core.Dense",
        "tensorflow.python.training.adam.AdamOptimizer",
    ]
    assert repr(graph).startswith("<tensorflow.python.framework.ops.Graph object at ")
    assert (tf.reduce_sum.__module__, tf.reduce_sum.__name__) == ("tensorflow.python.ops.math_ops", "reduce_sum_v1")
    assert (tf.nn.relu.__module__, tf.nn.relu.__name__) == ("tensorflow.python.ops.gen_nn_ops", "relu")
    assert str(tf.estimator.Estimator) == "<class 'tensorflow_estimator.python.estimator.estimator.Estimator'>"


def test_names_go_when_the_alias_goes():
    before = {name: (thing.__module__, thing.__qualname__) for name, thing in api.NAMES.items() if isinstance(thing, type)}
    alias.install()
    assert tf.Tensor.__module__ == "tensorflow.python.framework.ops"
    alias.remove()
    assert {name: (thing.__module__, thing.__qualname__) for name, thing in api.NAMES.items() if name in before} == before
    assert inspect.getfile is looks._getfile and "tensorflow" not in sys.modules


def test_everything_is_found_under_the_name_that_it_bears(as_tensorflow):
    for name in api.index().MODULES:
        api.find(name)
    assert len(looks._own) > 3000
    lost = []
    for thing in looks._own:
        module = importlib.import_module(thing.__module__)
        if getattr(module, thing.__qualname__, None) is not thing or sys.modules[thing.__module__] is not module:
            lost.append(f"{thing.__module__}.{thing.__qualname__}")
    assert lost == []


def test_source_files_and_modules_are_found(as_tensorflow):
    for thing, file in (
        (tf.Tensor, "everflow/graph/tensor.py"),
        (tf.keras.layers.Dense, "everflow/keras/layers/dense.py"),
        (tf.nn.softmax_cross_entropy_with_logits_v2, "everflow/"),
    ):
        assert file in inspect.getfile(thing)
        assert inspect.getmodule(thing) is sys.modules[thing.__module__] is importlib.import_module(thing.__module__)
    assert inspect.getsource(tf.Tensor).startswith("@public(") and "class Tensor" in inspect.getsource(tf.Tensor)
    assert inspect.getsource(tf.keras.layers.Dense.build).strip().startswith("def build(self")

    class Mine(tf.keras.layers.Dense):
        pass

    assert inspect.getsource(Mine).strip().startswith("class Mine") and Mine.__module__ == __name__


THINGS = """
import pickle, sys
import tensorflow as tf
tf.enable_eager_execution()
def things():
    return [tf.float32, tf.TensorShape([1, None]), tf.estimator.RunConfig(tf_random_seed=3).tf_random_seed, tf.reduce_sum, tf.Tensor,
            tf.estimator.RunConfig("there"), tf.constant([1.5]), tf.nn.rnn_cell.LSTMStateTuple(1, 2), tf.train.ClusterSpec({"ps": ["a:1"]}),
            tf.nn, tf.GradientTape, tf.estimator.EstimatorSpec, tf.keras.layers.Dense, tf.contrib.layers.conv2d, tf.data.Dataset]
"""


def test_pickles_are_read_in_a_fresh_process(tmp_path):
    file = tmp_path / "things.pickle"
    shown = "print([repr(x) if not hasattr(x, '__dict__') or isinstance(x, type) else str(type(x)) for x in found])"
    written = everflow("-c", THINGS + f"found = things()\npickle.dump(found, open({str(file)!r}, 'wb'))\n" + shown)
    read = everflow("-c", THINGS + f"found = pickle.load(open({str(file)!r}, 'rb'))\n" + shown)
    assert read == written


def test_copies_are_as_before(as_tensorflow):
    config = tf.estimator.RunConfig("there", tf_random_seed=5)
    again = copy.deepcopy(config)
    assert again is not config and again.tf_random_seed == 5
    assert copy.deepcopy(tf.float32) == tf.float32 and copy.copy(tf.TensorShape([2])) == tf.TensorShape([2])


def test_losses_of_our_own_are_known_by_either_name(as_tensorflow):
    from everflow.keras.training.compiling import _is_known

    assert _is_known(losses.mean_squared_error) and not _is_known(np.mean) and not _is_known(lambda y, p: y)


def test_public_functions_show_no_annotations():
    for function in (tf.reduce_sum, tf.nn.relu, tf.Tensor.eval, tf.train.Saver.__init__, tf.Graph.device, tf.keras.Model.fit):
        assert inspect.getfullargspec(inspect.unwrap(function)).annotations == {}, function
    assert inspect.getfullargspec(tf.Session.run) == inspect.FullArgSpec(
        ["self", "fetches", "feed_dict", "options", "run_metadata"], None, None, (None, None, None), [], None, {}
    )
    assert tf.Tensor.shape.fget.__annotations__ == {}


FACTS = pathlib.Path(__file__).parent / "facts"

# These take more than TensorFlow's do, or share an implementation whose arguments are called otherwise.
OTHERWISE = {
    "contrib.data.bucket_by_sequence_length",
    "contrib.data.make_batched_features_dataset",
    "contrib.data.make_csv_dataset",
    "contrib.data.read_batch_features",
    "contrib.metrics.streaming_auc",
    # That of version 1, as tf.keras has it.
    "contrib.keras.api.keras.callbacks.TensorBoard",
    "data.experimental.make_batched_features_dataset",
    "estimator.tpu.TPUEstimator",
}


def test_parameters_are_those_of_tensorflow():
    spec = importlib.util.spec_from_file_location("looks_of_things", pathlib.Path(__file__).parent / "looks.py")
    looked = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(looked)
    known = json.loads((FACTS / "parameters.json").read_text())
    found = {name: looked.parameters(api.find(name)) for name in known if api.has(name)}
    assert len(found) > 2000
    assert {name: shown for name, shown in found.items() if shown != known[name] and name not in OTHERWISE} == {}
    assert [name for name in OTHERWISE if found[name] == known[name]] == []


def test_arguments_that_tensorflows_decorators_hide_are_hidden():
    for method in (tf.keras.layers.Add.build, tf.keras.layers.PReLU.compute_output_shape, tf.nn.rnn_cell.GRUCell.build):
        assert list(inspect.signature(method).parameters) == ["instance", "input_shape"]
    for function in (tf.keras.applications.VGG16, tf.keras.applications.resnet.preprocess_input, tf.test.TestCase.assertEquals):
        assert str(inspect.signature(function)) == "(*args, **kwargs)"
    assert str(inspect.signature(tf.nn.rnn_cell.DropoutWrapper.__init__)) == "(self, *args, **kwargs)"
    assert str(inspect.signature(tf.keras.layers.GRU.from_config)) == "(config)"


def test_classes_have_the_bases_that_they_have_in_tensorflow():
    known = json.loads((FACTS / "bases.json").read_text())
    pairs = [(name, base) for name, bases in known.items() for base in bases if api.has(name) and api.has(base)]
    assert len(pairs) > 1200
    assert [pair for pair in pairs if not issubclass(api.find(pair[0]), api.find(pair[1]))] == []


def test_defaults_of_ops_have_the_digits_that_they_need():
    for op, shown in (
        ("LRN", "(input, depth_radius=5, bias=1, alpha=1, beta=0.5, name=None)"),
        ("ApproximateEqual", "(x, y, tolerance=1e-05, name=None)"),
        ("LeakyRelu", "(features, alpha=0.2, name=None)"),
    ):
        assert str(inspect.signature(getattr(tf.raw_ops, op))) == shown


def test_optimizers_stand_directly_on_their_base():
    found = [getattr(tf.train, name) for name in dir(tf.train) if name.endswith("Optimizer") and name != "Optimizer"]
    assert len(found) >= 9 and {cls.__bases__ for cls in found} == {(tf.train.Optimizer,)}
    assert "_apply_dense" in vars(tf.train.AdadeltaOptimizer)


def test_tensorflows_inspection_looks_below_context_managers():
    from everflow.platform import signatures

    assert signatures.getfullargspec(tf.contrib.framework.arg_scope)[:4] == (["list_ops_or_scope"], None, "kwargs", None)
    assert signatures.getfullargspec(tf.init_scope).args == []


def test_private_attributes_that_programs_touch():
    with tf.Graph().as_default() as graph:
        x = tf.constant(1.0)
    assert (x._op, x._dtype, x.op._graph, x.op._id_value) == (x.op, tf.float32, graph, x.op._id)
    assert x.op._op_def.name == "Const"
    assert (x.op._traceback, x.op._is_stateful) == (x.op.traceback, False)
    with graph.as_default():
        for variable in (tf.Variable(1), tf.get_variable("r", [], use_resource=True)):
            assert (variable._graph_key, variable.op._is_stateful) == (graph._graph_key, True)


class Standin:
    """What programs pass for an op to learn the current device."""

    device = ""

    def _set_device_from_string(self, device):
        self.device = device


def test_device_blocks_are_asked_kept_and_put_back(graph):
    def device():
        op = Standin()
        graph._apply_device_functions(op)
        return op.device

    with tf.device("/job:worker"):
        with tf.device(lambda op: "/gpu:1"):
            kept = graph._device_function_stack.copy()
            assert device() == "/job:worker/device:GPU:1"
        around = graph._device_function_stack
        graph._device_function_stack = kept
        assert tf.constant(1).device == "/job:worker/device:GPU:1"
        graph._device_function_stack = around
        assert (device(), len(kept)) == ("/job:worker", 2)
    with pytest.raises(RuntimeError, match="Exiting device scope without proper scope nesting"), tf.device("/job:worker"):
        graph._device_function_stack = kept


def test_subclasses_of_batch_normalization_say_what_the_moments_are(session):
    class Shifted(tf.layers.BatchNormalization):
        def _moments(self, inputs, reduction_axes, keep_dims):
            mean, variance = super()._moments(inputs, reduction_axes, keep_dims=keep_dims)
            return mean + 1, variance

    x = np.array([[0.0], [2.0]], "float32")
    results = [layer(x, training=True) for layer in (tf.layers.BatchNormalization(epsilon=0), Shifted(epsilon=0))]
    session.run(tf.global_variables_initializer())
    plain, shifted = session.run(results)
    assert (plain.tolist(), shifted.tolist()) == ([[-1], [1]], [[-2], [0]])


def test_estimators_are_asked_for_their_features():
    estimator = tf.estimator.Estimator(lambda features: None)
    features, hooks = estimator._get_features_from_input_fn(lambda: tf.data.Dataset.range(3), tf.estimator.ModeKeys.PREDICT)
    assert (features.dtype, len(hooks)) == (tf.int64, 1)
    assert estimator._get_features_and_labels_from_input_fn(lambda: (1, 2), tf.estimator.ModeKeys.TRAIN) == (1, 2, [])


def test_estimators_have_their_later_name(as_tensorflow):
    from tensorflow_estimator.python.estimator import estimator

    assert tf.compat.v2.estimator.Estimator is estimator.EstimatorV2 and issubclass(estimator.EstimatorV2, tf.estimator.Estimator)
