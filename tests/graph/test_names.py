"""Names of ops and scopes are made as TensorFlow makes them: checkpoints and programs depend on them."""

import threading

import pytest

import everflow as tf
from everflow.graph.scopes import get_name_scope, name_scope_v2, prepend_name_scope, strip_name_scope
from everflow.keras.backend.graph import forget_graph


def test_names_are_numbered_where_they_are_taken_whatever_their_case():
    assert [tf.constant(1, name=n).op.name for n in ("a", "a", "A", "a_1", "a")] == ["a", "a_1", "A_2", "a_1_1", "a_3"]
    assert tf.constant(1).name == "Const:0" and tf.constant(1).name == "Const_1:0"


def test_constants_made_for_an_op_stand_below_its_name():
    assert [op.name for op in tf.add(1, 2).graph.get_operations()] == ["Add/x", "Add/y", "Add"]


def test_scopes():
    with tf.name_scope("one") as one:
        assert one == "one/" and get_name_scope() == "one"
        assert tf.constant(1).op.name == "one/Const"
        with tf.name_scope("two") as two:
            assert two == "one/two/"
        with tf.name_scope("two") as again:
            assert again == "one/two_1/"
        with tf.name_scope(None) as top:
            assert top == "" and tf.constant(1).op.name == "Const"
    with tf.name_scope("one") as other:
        assert other == "one_1/"
    with tf.name_scope(one):
        assert tf.constant(1).op.name == "one/Const_1"
    assert get_name_scope() == ""


def test_a_name_that_ends_in_a_slash_is_taken_as_it_is():
    assert tf.constant(1, name="a/").op.name == "a"
    with tf.name_scope("b/"):
        assert tf.constant(1, name="c").op.name == "b/c"


def test_the_default_name_and_the_graph_come_from_the_values(graph):
    with tf.Graph().as_default():
        value = tf.constant(1)
        other = tf.get_default_graph()
    with tf.name_scope(None, "default", [value]) as scope:
        assert scope == "default/" and tf.get_default_graph() is other
    assert tf.get_default_graph() is graph
    with pytest.raises(ValueError, match="must be from the same graph as"), tf.name_scope("s", values=[value, tf.constant(1)]):
        pass


@pytest.mark.parametrize("name", ["_x", "a b", "/", "a:0"])
def test_names_that_can_not_be(name):
    with pytest.raises(ValueError, match="is not a valid scope name"), tf.name_scope(name):
        pass


def test_mistakes_in_arguments():
    with pytest.raises(TypeError, match="You likely meant to pass this into the `values` kwarg"):
        tf.name_scope("x", [tf.constant(1)])
    with pytest.raises(ValueError, match="At least one of name"), tf.name_scope(None, None, []):
        pass
    with pytest.raises(ValueError, match="name for name_scope must be a string"):
        name_scope_v2(None)


def test_a_scope_of_version_two_may_be_entered_inside_itself():
    scope = name_scope_v2("foo")
    with scope as outer, scope as inner:
        assert (outer, inner) == ("foo/", "foo/foo/")
    assert get_name_scope() == ""


def test_a_scope_is_left_when_something_is_raised():
    with pytest.raises(RuntimeError, match="left"), tf.name_scope("s"):
        raise RuntimeError("left")
    assert get_name_scope() == ""


def test_names_given_as_bytes():
    assert tf.constant(1, name=b"e").name == "e:0"


def test_unique_name(graph):
    assert graph.unique_name("n", mark_as_used=False) == "n"
    assert [graph.unique_name("n"), graph.unique_name("n")] == ["n", "n_1"]


def test_threads_have_scopes_of_their_own_and_never_the_same_name(graph):
    names = []

    def work():
        with graph.as_default():
            for _ in range(100):
                names.append(tf.constant(1).op.name)

    with tf.name_scope("here"):
        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert len(set(names)) == 400 and not any(n.startswith("here") for n in names)


def test_stripping_and_prepending():
    assert strip_name_scope("hidden/weights", "hidden") == "weights"
    assert strip_name_scope("^hidden/weights", "hidden/") == "^weights"
    assert strip_name_scope("other/weights", "hidden") == "other/weights"
    assert prepend_name_scope("loc:@weights", "hidden") == "loc:@hidden/weights"


def test_init_scope_lifts_out_of_functions_and_dependencies(graph):
    first = tf.constant(1)
    with tf.name_scope("s"), tf.control_dependencies([first]), tf.init_scope():
        inside = tf.constant(2)
    assert inside.op.control_inputs == [] and inside.op.name == "s/Const"
    found = []

    def branch():
        with tf.init_scope():
            found.append(tf.constant(3))
        return tf.constant(4)

    tf.cond(tf.placeholder(tf.bool, []), branch, branch)
    assert all(t.graph is graph for t in found) and len(found) == 2


def test_init_scope_keeps_the_device_of_where_it_is(graph):
    inner = tf.Graph()
    inner.building_function = True
    with tf.device("/cpu:0"), inner.as_default():
        with tf.device("/cpu:1"), tf.init_scope():
            assert tf.constant(1).device == "/device:CPU:1"
        with tf.init_scope():
            assert tf.constant(1).device == "/device:CPU:0"


def test_ops_on_tensors_of_a_graph_are_named_there_even_where_ops_run_at_once(eager):
    forget_graph()
    x = tf.keras.Input((2,))
    one = tf.constant([[1.0, 0.0], [0.0, 1.0]])
    assert [t.name for t in (x * 2.0, x * 3.0, 2.0 * x, one * x)] == ["mul:0", "mul_1:0", "mul_2:0", "mul_3:0"]
    assert [t.name for t in (-x, -x, x[0], x[1])] == ["Neg:0", "Neg_1:0", "strided_slice:0", "strided_slice_1:0"]
    assert [tf.matmul(x, one).name, tf.matmul(x, one).name, (x @ one).name] == ["MatMul:0", "MatMul_1:0", "matmul_2:0"]
    with tf.name_scope("a"):
        assert [(x * 2.0).name, tf.cast(x, tf.float64).name, tf.cast(x, tf.float64).name] == ["mul_4:0", "Cast:0", "Cast_1:0"]
    with tf.name_scope("a", None, [x]):
        assert [(x * 2.0).name, tf.cast(x, tf.float64).name, tf.cast(x, tf.float64).name] == ["a/mul:0", "a/Cast:0", "a/Cast_1:0"]
