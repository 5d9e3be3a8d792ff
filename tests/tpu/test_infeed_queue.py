"""tf.contrib.tpu.InfeedQueue: how tensors are split among shards, and the ops that send and take them."""

from __future__ import annotations

import pytest

import everflow as tf
from everflow.tpu.infeed_queue import ShardingPolicy

Queue = tf.contrib.tpu.InfeedQueue


def test_a_policy_splits_shapes_and_puts_them_together():
    policy = ShardingPolicy()
    assert str(policy) == "ShardingPolicy(unset)"
    policy.set_number_of_shards(3)
    policy.set_shard_dimension(1)
    assert str(policy) == "ShardingPolicy(3 shards dimension 1)"
    assert policy.get_sharded_shape([4, 9]).as_list() == [4, 3]
    assert policy.get_unsharded_shape([[4, 3]] * 3).as_list() == [4, 9]
    with pytest.raises(ValueError, match="cannot be sharded 3 ways along dimension 1"):
        policy.get_sharded_shape([4, 10])
    with pytest.raises(ValueError, match="not consistent shards"):
        policy.get_unsharded_shape([[4, 3], [4, 3], [4, 2]])
    policy.freeze()
    with pytest.raises(ValueError, match="frozen"):
        policy.set_number_of_shards(2)


def test_a_queue_is_described_by_what_it_is_given():
    assert Queue(tuple_types=[tf.float32, tf.int32]).number_of_tuple_elements == 2
    queue = Queue(number_of_tuple_elements=1)
    queue.set_configuration_from_sharded_input_tensors([[tf.zeros([2, 4])], [tf.zeros([2, 4])]])
    assert queue.number_of_shards == 2 and queue.tuple_shapes[0].as_list() == [4, 4] and queue.tuple_types == [tf.float32]
    queue.freeze()
    with pytest.raises(ValueError, match="incompatible shape"):
        queue.set_tuple_shapes([[8, 8]])
    with pytest.raises(ValueError, match="cannot be inferred"):
        Queue()
    with pytest.raises(ValueError, match="must be a list of length 2"):
        Queue(number_of_tuple_elements=2, tuple_types=[tf.float32])


def test_ops_send_parts_and_take_them():
    queue = Queue(number_of_tuple_elements=1)
    queue.set_number_of_shards(2)
    sends = queue.split_inputs_and_generate_enqueue_ops([tf.zeros([4, 3])], tpu_ordinal_function=lambda shard: shard + 5)
    assert [op.type for op in sends] == ["InfeedEnqueueTuple"] * 2 and [op.get_attr("device_ordinal") for op in sends] == [5, 6]
    (taken,) = queue.generate_dequeue_op()
    assert taken.shape.as_list() == [2, 3]
    with pytest.raises(ValueError, match="two dequeue Ops"):
        queue.generate_dequeue_op()
