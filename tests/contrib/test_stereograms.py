"""Pictures of dots that hide a relief."""

import numpy as np
import pytest

import everflow as tf
from running import run

stereogram = tf.contrib.image.single_image_random_dot_stereograms
SMALL = {"output_image_shape": [200, 20, 1], "output_data_window": [200, 20], "convergence_dots_size": 0, "eye_separation": 1.0}


@pytest.mark.parametrize(("depth", "apart"), [(0.0, 36), (1.0, 29)])
def test_points_of_a_plane_repeat_as_far_apart_as_eyes_meet(depth, apart):
    """By the distance z: (1 - mu z) E / (2 - mu z), with E the 72 dots between the eyes."""
    image = run(stereogram(np.full([4, 5], depth, np.float32), normalize=False, **SMALL))
    assert image.shape == (20, 200, 1) and image.dtype == np.uint8
    assert (image[:, :-apart] == image[:, apart:]).all()
    assert (image[:, : -apart - 1] == image[:, apart + 1 :]).mean() < 0.1


def test_what_is_near_repeats_sooner():
    depth = np.zeros([20, 200], np.float32)
    depth[:, 60:140] = 1
    image = run(stereogram(depth, **SMALL))
    near = (image[:, 70:100] == image[:, 99:129]).mean()
    assert near > 0.9 > (image[:, 70:100] == image[:, 106:136]).mean()


def test_shapes_follow_from_sizes_and_colors():
    assert stereogram([[1.0]]).shape.as_list() == [768, 1024, 1]
    made = stereogram([[1.0, 2.0]], number_colors=300, **SMALL)
    assert made.shape.as_list() == [20, 200, 3] == list(run(made).shape)
    assert set(np.unique(run(stereogram([[1, 2]], number_colors=2, **SMALL)))) == {0, 255}


def test_marks_at_the_bottom_are_black():
    image = run(stereogram([[0.0]], **{**SMALL, "convergence_dots_size": 4}))
    assert (image[-4:, 80:84] == 0).all() and (image[-4:, 116:120] == 0).all()


def test_windows_must_fit():
    with pytest.raises(tf.errors.InvalidArgumentError, match="output_data_window must be equal to or smaller"):
        run(stereogram([[0.0]], output_image_shape=[10, 10, 1], output_data_window=[20, 10]))
