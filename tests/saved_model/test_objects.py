"""tf.saved_model.save and load_v2: objects come back with their variables, files, structure and functions."""

import collections

import numpy as np
import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("eager")

VECTOR = tf.TensorSpec([None], tf.float32)


@pytest.fixture
def again(tmp_path):
    """Saves an object and loads it."""
    count = iter(range(100))

    def go(root, signatures=None, times=1):
        for _ in range(times):
            path = str(tmp_path / f"model_{next(count)}")
            tf.saved_model.save(root, path, signatures)
            root = tf.saved_model.load_v2(path)
        return root

    return go


class Line(tf.Module):
    def __init__(self):
        super().__init__()
        self.slope = tf.Variable(2.0, name="slope")
        self.offsets = [tf.Variable(1.0), tf.Variable(5.0, trainable=False)]

    @tf.function(input_signature=[VECTOR])
    def __call__(self, x):
        return self.slope * x + self.offsets[0]

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def steepen(self, by):
        self.slope.assign_add(by)
        self.slope.assign_add(by)
        return self.slope * 1.0


@pytest.mark.parametrize("times", [1, 2])
def test_variables_structure_and_functions_come_back(again, times):
    line = again(Line(), times=times)
    assert line.slope.numpy() == 2 and line.slope.name == "slope:0" and line.slope.trainable
    assert [v.numpy() for v in line.offsets] == [1, 5] and not line.offsets[1].trainable
    np.testing.assert_allclose(line(tf.constant([1.0, 2.0])), [3, 5])
    assert line.steepen(tf.constant(1.0)).numpy() == line.slope.numpy() == 4
    np.testing.assert_allclose(line([1.0]), [5])


def test_gradients_go_through_loaded_functions(again):
    line = again(Line())
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = line(x)
    assert [v.name for v in tape.watched_variables()] == ["slope:0", "Variable:0"]
    dx, slope = tape.gradient(y, [x, line.slope])
    np.testing.assert_allclose(dx, [2, 2])
    assert slope.numpy() == 3


def test_the_body_is_chosen_by_the_arguments(again):
    Pair = collections.namedtuple("Pair", "a b")
    root = tf.Module()
    root.f = tf.function(lambda x, training=False: x * 2 if training else {"x": x})
    root.g = tf.function(lambda pair, **named: pair.a + pair.b)
    root.f(tf.constant(1.0)), root.f(tf.constant(1), True), root.g(Pair(tf.constant(1.0), tf.constant(2.0)), k=tf.constant(1))
    root = again(root)
    assert root.f(tf.constant(3.0))["x"].numpy() == 3
    assert root.f(tf.constant(3), training=True).numpy() == 6
    assert root.g(Pair(tf.constant(3.0), tf.constant(4.0)), k=tf.constant(5)).numpy() == 7
    with pytest.raises(ValueError, match="Could not find matching function to call loaded from the SavedModel"):
        root.f(tf.constant("a"))


def test_branches_and_loops_come_back(again):
    def sums(n):
        return tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, tf.cond(s > 10, lambda: s + 1, lambda: s + i)), [0, 0])[1]

    root = tf.Module()
    root.sums = tf.function(sums, input_signature=[tf.TensorSpec([], tf.int32)])
    assert again(root).sums(tf.constant(10)).numpy() == sums(tf.constant(10)).numpy() == 19


def test_files_and_tables_move_with_the_model(again, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("alpha\nbeta\n")
    root = tf.Module()
    root.table = tf.lookup.StaticHashTable(
        tf.lookup.TextFileInitializer(
            str(words), tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
        ),
        -1,
    )
    root.ids = tf.function(lambda x: root.table.lookup(x), input_signature=[tf.TensorSpec([None], tf.string)])
    loaded = again(root)
    words.unlink()
    np.testing.assert_array_equal(again(loaded).ids(tf.constant(["beta", "gamma"])), [1, -1])


def test_signatures_take_names_and_sessions_run_them(tmp_path):
    line = Line()
    tf.saved_model.save(line, str(tmp_path / "m"), signatures={"serving_default": line.__call__, "steepen": line.steepen})
    signature = tf.saved_model.load_v2(str(tmp_path / "m")).signatures["serving_default"]
    np.testing.assert_allclose(signature(x=tf.constant([1.0]))["output_0"], [3])
    with pytest.raises(TypeError, match=r"Expected argument names \['x'\]"):
        signature(y=tf.constant([1.0]))
    with tf.Graph().as_default(), tf.Session() as session:
        meta_graph = tf.saved_model.load(session, ["serve"], str(tmp_path / "m"))
        told = meta_graph.signature_def["serving_default"]
        np.testing.assert_allclose(session.run(told.outputs["output_0"].name, {told.inputs["x"].name: [2.0]}), [5])


def test_a_graph_loads_variables_with_their_values(tmp_path):
    tf.saved_model.save(Line(), str(tmp_path / "m"))
    with tf.Graph().as_default(), tf.Session() as session:
        line = tf.saved_model.load_v2(str(tmp_path / "m"))
        y = line(tf.constant([1.0]))
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(y), [3])


def test_models_of_sessions_have_functions(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None])
        v = tf.get_variable("v", initializer=3.0, use_resource=True)
        y = tf.identity(x * v, name="y")
        session.run(v.initializer)
        tf.saved_model.simple_save(session, str(tmp_path / "m"), {"x": x}, {"y": y})
    model = tf.saved_model.load_v2(str(tmp_path / "m"))
    np.testing.assert_allclose(model.signatures["serving_default"](x=tf.constant([2.0]))["y"], [6])
    model.variables[0].assign(5.0)
    np.testing.assert_allclose(model.prune(x.name, "y:0")(tf.constant([2.0])), [10])


def test_what_cannot_be_saved_says_why(tmp_path):
    hidden = tf.Variable(1.0)
    root = tf.Module()
    root.f = tf.function(lambda x: hidden * x)
    root.f(tf.constant(1.0))
    with pytest.raises(KeyError, match="not reachable from root"):
        tf.saved_model.save(root, str(tmp_path / "a"))
    root.f = tf.function(lambda x: x)
    with pytest.raises(ValueError, match="Expected a TensorFlow function"):
        tf.saved_model.save(root, str(tmp_path / "b"), root.f)
    with pytest.raises(ValueError, match="Expected a Trackable object"):
        tf.saved_model.save(3, str(tmp_path / "c"))
    root = tf.train.Checkpoint(signatures=tf.Variable(1.0))
    with pytest.raises(ValueError, match="del obj.signatures"):
        tf.saved_model.save(root, str(tmp_path / "d"))


def test_tags_have_to_fit(tmp_path):
    tf.saved_model.save(tf.Module(), str(tmp_path / "m"))
    tf.saved_model.load_v2(str(tmp_path / "m"), tags="serve")
    with pytest.raises(ValueError, match="incompatible argument tags"):
        tf.saved_model.load_v2(str(tmp_path / "m"), tags=["train"])
