"""Gradients of what was joined."""

from planning import random, same

import everflow as tf
from everflow.runtime.passes.concat_gradients import slice_concat_gradients
from everflow.runtime.passes.constants import fold_constants
from everflow.runtime.passes.identities import drop_identities


def test_the_gradient_of_a_part_is_a_slice_at_a_known_place():
    a, b = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 3])
    gradients = tf.gradients(tf.exp(tf.concat([a, b], 1)), [a, b])
    found = same(gradients, [a, b], (fold_constants, slice_concat_gradients), random(4, 2), random(4, 3), tolerance=1e-6)
    assert found.count("_Part") == 2 and "Slice" not in found and "ConcatOffset" not in found


def test_of_a_product_only_the_columns_are_computed_that_are_kept():
    a, b = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 3])
    dy = tf.placeholder(tf.float32, [None, 4])
    (gradient,) = tf.gradients(tf.matmul(tf.concat([a, b], 1), tf.constant(random(5, 4))), [b], dy)
    found = same([gradient], [a, b, dy], (fold_constants, slice_concat_gradients), random(4, 2), random(4, 3), random(4, 4), tolerance=1e-6)
    assert "_PartOfProduct" in found and "MatMul" not in found


def test_a_product_of_which_several_parts_are_kept_is_computed_once():
    a, b = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 3])
    dy = tf.placeholder(tf.float32, [None, 4])
    gradients = tf.gradients(tf.matmul(tf.concat([a, b], 1), tf.constant(random(5, 4))), [a, b], dy)
    found = same(gradients, [a, b, dy], (fold_constants, slice_concat_gradients), random(4, 2), random(4, 3), random(4, 4), tolerance=1e-6)
    assert found.count("MatMul") == 1 and found.count("_Part") == 2


def test_where_only_a_run_tells_the_sizes_it_finds_the_place():
    a, b = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 2])
    gradients = tf.gradients(tf.exp(tf.concat([a, b], 0)), [a, b])
    found = same(gradients, [a, b], (fold_constants, slice_concat_gradients), random(4, 2), random(3, 2), tolerance=1e-6)
    assert "_Part" not in found and found.count("Slice") == 2


def test_rows_of_a_product_are_part_of_the_whole():
    a, b, dy = (tf.placeholder(tf.float32, dims) for dims in ([2, None], [3, None], [5, 4]))
    (gradient,) = tf.gradients(tf.matmul(tf.concat([a, b], 0), tf.constant(random(5, 4))), [b], dy)
    rewrites = (drop_identities, fold_constants, slice_concat_gradients)
    assert same([gradient], [a, b, dy], rewrites, random(2, 5), random(3, 5), random(5, 4), tolerance=1e-6) == ["MatMul", "_Part"]
