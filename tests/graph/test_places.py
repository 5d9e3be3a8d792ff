"""tf.device, colocation, and attributes that blocks give to ops."""

import pytest

import everflow as tf
from everflow.proto import attr_value_pb2


def here():
    return tf.constant(1).device


def test_inner_blocks_win_part_by_part():
    with tf.device("/job:ps/cpu:0"):
        assert here() == "/job:ps/device:CPU:0"
        with tf.device("/task:3"):
            assert here() == "/job:ps/task:3/device:CPU:0"
            with tf.device("/gpu:1"):
                assert here() == "/job:ps/task:3/device:GPU:1"
        with tf.device(None):
            assert here() == ""
    with tf.device("/gpu:3"), tf.device("/cpu"):
        assert here() == "/device:CPU:3"
    assert here() == ""


def test_specs_and_functions():
    with tf.device(tf.DeviceSpec(job="worker", device_type="GPU", device_index=2)):
        assert here() == "/job:worker/device:GPU:2"
    with tf.device("/job:worker/cpu:0"), tf.device(lambda op: "/gpu:1" if op.type == "Const" else op.device):
        assert here() == "/job:worker/device:GPU:1"
        assert tf.placeholder(tf.float32).device == "/job:worker/device:CPU:0"
    # What a function returns takes the place of what blocks inside it say.
    with tf.device("/job:w/gpu:3"), tf.device(lambda op: "/cpu:1"), tf.device("/task:7"):
        assert here() == "/job:w/device:CPU:1"


def test_a_device_that_is_none():
    with pytest.raises(ValueError, match="Unknown attribute: 'bogus' in '/bogus:1'"), tf.device("/bogus:1"):
        pass


def test_blocks_are_left_in_the_order_of_a_stack(graph):
    outer = graph.device("/cpu:0")
    outer.__enter__()
    with graph.device("/cpu:1"), pytest.raises(RuntimeError, match="without proper scope nesting"):
        outer.__exit__(None, None, None)


def test_ops_know_the_blocks_they_were_made_in():
    def choose(op):
        return "/cpu:*"

    with tf.device("/cpu"), tf.device(choose):
        op = tf.constant(1).op
    outer, inner = op._device_assignments
    assert (outer.obj, outer.filename) == ("/cpu", __file__)
    assert inner.obj == f"choose<{__file__}, {choose.__code__.co_firstlineno}>"
    assert tf.constant(1).op._device_assignments == []


def test_colocated_ops_share_groups_and_device():
    with tf.device("/cpu:1"):
        a = tf.constant(1, name="a")
    b = tf.constant(2, name="b")
    with tf.colocate_with(a):
        c = tf.constant(3)
        with tf.colocate_with(b):
            both = tf.constant(4)
        with tf.colocate_with(c):
            again = tf.constant(4)
        with tf.colocate_with(b, ignore_existing=True):
            other = tf.constant(5)
        with tf.colocate_with(None, ignore_existing=True):
            free = tf.constant(6, name="free")
    assert c.op.colocation_groups() == again.op.colocation_groups() == [b"loc:@a"]
    assert c.device == "/device:CPU:1"
    assert both.op.colocation_groups() == [b"loc:@a", b"loc:@b"]
    assert other.op.colocation_groups() == [b"loc:@b"]
    assert free.op.colocation_groups() == [b"loc:@free"] and "_class" not in free.op.node_def.attr
    assert list(both.op._colocation_dict) == ["a", "b"] and both.op._colocation_dict["a"].filename == __file__
    with pytest.raises(ValueError, match="Trying to reset colocation"), tf.colocate_with(None):
        pass


def test_colocation_is_stronger_than_a_device():
    with tf.device("/cpu:1"):
        a = tf.constant(1)
    with tf.device("/cpu:0"), tf.colocate_with(a):
        assert here() == "/device:CPU:1"
        with tf.device("/cpu:2"):
            assert here() == "/device:CPU:1"


def test_ops_that_change_a_variable_stand_beside_it():
    with tf.device("/cpu:1"):
        v = tf.Variable(1.0, name="v", use_resource=False)
    assert tf.assign(v, 2.0).op.colocation_groups() == [b"loc:@v"]
    assert tf.assign(v, 2.0).device == "/device:CPU:1"


def test_attributes_for_all_ops_of_a_block(graph):
    text = attr_value_pb2.AttrValue(s=b"foo")
    with graph._attr_scope({"_a": text, "_b": lambda node: attr_value_pb2.AttrValue(s=node.op.encode())}):
        op = tf.no_op()
        with graph._attr_scope({"_a": None}):
            without = tf.no_op()
    assert op.get_attr("_a") == b"foo" and op.get_attr("_b") == b"NoOp"
    with pytest.raises(ValueError, match="has no attr named '_a'"):
        without.get_attr("_a")


def test_labels_choose_a_kernel(graph):
    from everflow.ops.core.registry import apply

    with tf.Session() as session:
        with graph._kernel_label_map({"KernelLabel": "special"}):
            special = apply("KernelLabel")
        assert session.run([apply("KernelLabel"), special]) == [b"My label is: default", b"My label is: special"]
