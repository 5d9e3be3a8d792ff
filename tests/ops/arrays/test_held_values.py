"""Constants that a step does not hold."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.core.registry import apply
from running import run


def test_a_constant_on_the_host_is_a_constant():
    assert run(apply("HostConst", value=tf.make_tensor_proto([1.0, 2.0]), dtype=tf.float32)).tolist() == [1, 2]


def test_a_file_is_a_tensor(tmp_path):
    numbers = tmp_path / "numbers"
    numbers.write_bytes(np.arange(6, dtype=np.float32).tobytes())
    held = apply("ImmutableConst", dtype=tf.float32, shape=[2, 2], memory_region_name=str(numbers))
    assert held.shape == (2, 2) and run(held + 1).tolist() == [[1, 2], [3, 4]]
    run(tf.raw_ops.InplaceAdd(x=held, i=[0], v=[[1.0, 1.0]]))
    assert run(held).tolist() == [[0, 1], [2, 3]]


def test_a_file_must_be_there_and_hold_enough(tmp_path):
    numbers = tmp_path / "numbers"
    with pytest.raises(tf.errors.NotFoundError, match="numbers; No such file or directory"):
        run(apply("ImmutableConst", dtype=tf.float32, shape=[3], memory_region_name=str(numbers)))
    numbers.write_bytes(bytes(8))
    with pytest.raises(tf.errors.InternalError, match=r"has wrong length \(8\) when allocating 12"):
        run(apply("ImmutableConst", dtype=tf.float32, shape=[3], memory_region_name=str(numbers)))
