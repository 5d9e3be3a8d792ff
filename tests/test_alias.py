"""`import tensorflow` finds Everflow: public modules, internal modules and protocol buffers."""

import importlib
import subprocess
import sys
from unittest import mock

import pytest

import everflow
from everflow import alias, api, internals
from everflow.graph import dtypes


@pytest.fixture(autouse=True)
def installed():
    alias.install()
    yield
    alias.remove()


@pytest.fixture
def publish(monkeypatch):
    """Publishes names for one test, and forgets what modules remembered of them."""

    def add(value, *names):
        for name in names:
            monkeypatch.setitem(api.NAMES, name, value)
        return value

    internals._internal_module.cache_clear()
    yield add
    internals._internal_module.cache_clear()


def test_tensorflow_is_everflow():
    import tensorflow
    import tensorflow as tf

    assert tensorflow is tf is sys.modules["tensorflow"]
    assert tf.nn is everflow.nn and tf.Tensor is everflow.Tensor and dir(tf.nn) == dir(everflow.nn)
    assert (tf.__name__, tf.__version__, tf.__git_version__) == ("tensorflow", "1.15.5", everflow.__git_version__)
    assert tf.compat.v1.__version__ == tf.compat.v2.__version__ == "1.15.5"
    assert importlib.util.find_spec("tensorflow").name == "tensorflow"


def test_packages_do_not_hold_themselves():
    from tensorflow.examples.tutorials import mnist

    assert not hasattr(mnist, "mnist") and hasattr(mnist, "input_data")


def test_an_installed_tensorflow_is_not_looked_at(tmp_path, monkeypatch):
    for package in ("tensorflow", "tensorflow_estimator"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("raise RuntimeError('the other one')")
    monkeypatch.syspath_prepend(str(tmp_path))
    del sys.modules["tensorflow"]
    import tensorflow
    import tensorflow_estimator

    assert tensorflow.Tensor is everflow.Tensor
    assert tensorflow_estimator.__name__ == "tensorflow_estimator"


def test_public_modules_are_the_namespaces():
    import tensorflow.compat.v1 as tf1
    import tensorflow.version
    from tensorflow import version
    from tensorflow.version import VERSION

    assert version is everflow.version is tensorflow.version is sys.modules["tensorflow.version"]
    assert VERSION == tf1.version.VERSION == "1.15.5"


def test_star_imports_bring_all_public_names():
    names = {}
    exec("from tensorflow.version import *", names)
    assert names["VERSION"] == "1.15.5" and names["GRAPH_DEF_VERSION"] == 134


def test_protocol_buffers_are_the_very_same_modules():
    from tensorflow.core.framework import graph_pb2
    from tensorflow.core.framework.node_def_pb2 import NodeDef
    from tensorflow.python.training import checkpoint_state_pb2
    from tensorflow_serving.apis import predict_pb2

    from everflow.proto import checkpoint_state_pb2 as ours_checkpoint
    from everflow.proto import graph_pb2 as ours
    from everflow.proto import predict_pb2 as ours_predict

    assert graph_pb2 is ours and predict_pb2 is ours_predict and checkpoint_state_pb2 is ours_checkpoint
    assert graph_pb2.__spec__.name == "everflow.proto.tensorflow.core.framework.graph_pb2"
    assert graph_pb2.GraphDef(node=[NodeDef(name="x")]).node[0].name == "x"


def test_internal_modules_hold_the_public_objects():
    from tensorflow.python.framework import dtypes as found
    from tensorflow.python.framework.dtypes import DType, as_dtype

    assert found.__name__ == "tensorflow.python.framework.dtypes"
    assert found.float32 is dtypes.float32 is everflow.float32
    assert DType is dtypes.DType and as_dtype("int8") is dtypes.int8


def test_names_that_a_module_has_from_another(publish):
    public_exp = publish(object(), "exp")
    from tensorflow.python.ops import math_ops
    from tensorflow.python.ops.math_ops import exp

    assert exp is math_ops.exp is public_exp


def test_explicit_internal_names_come_first(publish):
    publish(object(), "reduce_sum", "math.reduce_sum")
    own = publish(object(), "python.ops.math_ops.reduce_sum")
    from tensorflow.python.ops import math_ops

    assert math_ops.reduce_sum is own


def test_names_of_tensorflow_2_call_the_function_of_1_15(publish):
    publish(lambda x, y, data=None, summarize=None, message=None: (x, y, data, message), "assert_equal")
    publish(lambda input_tensor, axis=None, keepdims=None: (input_tensor, axis, keepdims), "math.reduce_sum")
    from tensorflow.python.ops import check_ops, math_ops

    assert check_ops.assert_equal_v2("x", "y", "no") == ("x", "y", None, "no")
    assert check_ops.assert_equal_v2("x", "y", message="no") == ("x", "y", None, "no")
    assert math_ops.reduce_sum("x", 1, True) == ("x", 1, True)


def test_generated_op_modules(monkeypatch):
    registry = importlib.import_module("everflow.ops.core.registry")
    monkeypatch.setattr(registry, "generated", lambda op: f"function of {op}")
    internals._internal_module.cache_clear()
    from tensorflow.python.ops import gen_array_ops, gen_math_ops, gen_nn_ops

    assert gen_math_ops.mat_mul == "function of MatMul"
    assert gen_math_ops._sum == "function of Sum"
    assert gen_nn_ops.conv2d == "function of Conv2D"
    assert gen_array_ops.concat_v2 == "function of ConcatV2"
    internals._internal_module.cache_clear()


def test_modules_are_attributes_of_their_packages():
    import tensorflow as tf
    from tensorflow.python import framework, keras

    assert framework.dtypes.int32 is dtypes.int32
    assert tf.python.framework is framework
    assert keras.__name__ == "tensorflow.python.keras"
    assert tf.core.framework.graph_pb2.GraphDef


def test_a_package_keeps_its_function_when_the_module_of_that_name_is_imported():
    from tensorflow.contrib.framework.python import ops
    from tensorflow.contrib.framework.python.ops import arg_scope
    from tensorflow.contrib.framework.python.ops.arg_scope import add_arg_scope

    assert arg_scope is ops.arg_scope is everflow.contrib.framework.arg_scope
    assert add_arg_scope is everflow.contrib.framework.add_arg_scope


def test_older_root_names():
    import tensorflow_core.python.framework.dtypes as found

    assert found.float32 is dtypes.float32


def test_missing_internal_names_are_named():
    from tensorflow.python.ops import array_ops

    message = r"Everflow does not have tensorflow\.python\.ops\.array_ops\.nonsense yet"
    with pytest.raises(AttributeError, match=message):
        array_ops.nonsense  # noqa: B018
    with pytest.raises(ImportError, match=message):
        from tensorflow.python.ops.array_ops import nonsense  # noqa: F401
    with pytest.raises(ImportError, match=r"Everflow does not have tensorflow\.python\.ops\.nonsense_ops yet"):
        import tensorflow.python.ops.nonsense_ops  # noqa: F401


def test_missing_public_names_are_named(monkeypatch):
    monkeypatch.setattr(api, "wanted", lambda: ["someday.thing"])
    with pytest.raises(ImportError, match=r"Everflow does not have tf\.someday yet"):
        from tensorflow import someday  # noqa: F401
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'tensorflow.someday' \(Everflow does not have"):
        import tensorflow.someday
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'tensorflow.nonsense'$"):
        import tensorflow.nonsense  # noqa: F401


def test_folders_of_everflow_are_not_modules_of_tensorflow():
    with pytest.raises(ModuleNotFoundError, match="^No module named 'tensorflow.graph'$"):
        import tensorflow.graph  # noqa: F401


def test_asking_every_module_for_a_special_name_is_harmless():
    import tensorflow.python.ops.math_ops
    import tensorflow.version  # noqa: F401

    for module in [m for n, m in sys.modules.items() if n.startswith("tensorflow")]:
        assert getattr(module, "__warningregistry__", None) is None


def test_every_internal_module_in_the_facts_can_be_imported():
    for path in internals.table():
        assert importlib.import_module(internals.shown(path)) is not None


def test_a_program_adds_modules_by_a_finder_of_its_own(tmp_path):
    (tmp_path / "mine.py").write_text("answer = 42")
    program = f"""
import importlib.util, sys
class Mine:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "tensorflow.examples.mine":
            return importlib.util.spec_from_file_location(name, {str(tmp_path / "mine.py")!r})
sys.meta_path.append(Mine)
from tensorflow.examples.mine import answer
print(answer)
import tensorflow.examples.yours
"""
    done = subprocess.run([sys.executable, "-m", "everflow", "run", "-c", program], capture_output=True, text=True)
    assert done.stdout == "42\n", done.stderr
    assert "No module named 'tensorflow.examples.yours'" in done.stderr


def test_internal_modules_hold_their_names_as_modules_do():
    from everflow.internals import module

    maths = module("python.ops.gen_math_ops")
    assert maths.__dict__["exp"] is vars(maths)["exp"] is maths.exp
    assert "exp" in vars(maths) and vars(maths).get("no_such_name") is None
    assert {"exp", "mul"} <= set(vars(maths)) <= set(dir(maths)) and len(vars(maths)) > 100
    vars(maths)["added"] = 1
    assert maths.added == 1
    del vars(maths)["added"]
    assert not hasattr(maths, "added")
    with pytest.raises(KeyError, match="no_such_name"):
        vars(maths)["no_such_name"]
    with mock.patch.dict(vars(maths), exp=1):
        assert maths.exp == 1
    assert maths.exp is everflow.exp
