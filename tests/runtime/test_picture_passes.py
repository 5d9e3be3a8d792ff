"""Resizing single pictures without making batches of them gives the same."""
import numpy as np
import pytest
import torch

import everflow as tf
from everflow.runtime import codegen, passes
from everflow.runtime.context import Context
from everflow.runtime.passes.overwritten_inputs import overwrite_inputs
from everflow.runtime.passes.resized_images import resize_single_images
from everflow.runtime.plan import make_plan

METHODS = tf.image.ResizeMethod
PICTURE = np.random.RandomState(0).randint(0, 256, (12, 17, 3)).astype(np.uint8)


def run(fetch, feed, rewrites, value):
    plan = make_plan(Context(fetch.graph), [fetch], [], [feed])
    passes.run(plan, rewrites)
    step = codegen.generate(plan)
    return step.call(torch.tensor(value))[0].numpy(), {call.node.type for call in step.calls}


@pytest.mark.parametrize("method", [METHODS.BILINEAR, METHODS.BICUBIC, METHODS.AREA])
@pytest.mark.parametrize("size", [(7, 9), (12, 17), (30, 40)])
def test_single_pictures_are_resized_the_same(method, size):
    with tf.Graph().as_default():
        picture = tf.placeholder(tf.uint8, [None, None, 3])
        resized = tf.image.resize_images(picture, size, method=method) / 255.0
        plain, _ = run(resized, picture, (), PICTURE)
        found, types = run(resized, picture, (passes.fold_constants, resize_single_images, overwrite_inputs), PICTURE)
    np.testing.assert_array_equal(found, plain)
    if size != (12, 17):
        assert "_ResizedPicture" in types and not {"ExpandDims", "RealDiv", "_RealDivOver", "Mul"} & set(types)


def test_pictures_that_have_no_pixels_are_refused():
    with tf.Graph().as_default(), tf.Session() as session:
        picture = tf.placeholder(tf.uint8, [None, None, 3])
        resized = tf.image.resize_images(picture, [4, 4])
        with pytest.raises(tf.errors.InvalidArgumentError, match="input image must be of non-zero size"):
            session.run(resized, {picture: np.zeros((0, 5, 3), np.uint8)})


def test_batches_and_other_axes_stay_as_they_are():
    with tf.Graph().as_default():
        picture = tf.placeholder(tf.uint8, [None, 5, 3])
        resized = tf.image.resize_bilinear(tf.expand_dims(picture, 3), [4, 4])
        _, types = run(resized, picture, (passes.fold_constants, resize_single_images), PICTURE[:, :5])
    assert "_ResizedPicture" not in types
