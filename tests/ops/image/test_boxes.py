"""Boxes on images: drawing, sampling, suppression."""

import numpy as np
import pytest

import everflow as tf
from running import run

BOXES = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [0, 100, 1, 101]], np.float32)
SCORES = np.array([0.9, 0.75, 0.6, 0.95, 0.5, 0.3], np.float32)
SAMPLED = [[15, 6, 0], [269, 449, -1]]


def test_of_overlapping_boxes_the_best_stays():
    assert run(tf.image.non_max_suppression(BOXES, SCORES, 3, 0.5)).tolist() == [3, 0, 5]
    assert run(tf.image.non_max_suppression(BOXES, SCORES, 2, 0.5)).tolist() == [3, 0]
    assert run(tf.image.non_max_suppression(BOXES, SCORES, 30, 0.5, score_threshold=0.4)).tolist() == [3, 0]


def test_corners_may_be_exchanged():
    assert run(tf.image.non_max_suppression(BOXES[:, [2, 3, 0, 1]], SCORES, 3, 0.5)).tolist() == [3, 0, 5]


def test_padding_says_how_many_count():
    kept, count = run(tf.image.non_max_suppression_padded(BOXES, SCORES, 5, 0.5, pad_to_max_output_size=True))
    assert kept.tolist() == [3, 0, 5, 0, 0] and count == 3


def test_soft_suppression_lowers_scores():
    kept, scores = run(tf.image.non_max_suppression_with_scores(BOXES, SCORES, 6, 1.0, soft_nms_sigma=0.5))
    assert kept.tolist() == [3, 0, 1, 5, 4, 2]
    np.testing.assert_allclose(scores, [0.95, 0.9, 0.384, 0.3, 0.256, 0.197], atol=1e-3)


def test_overlaps_may_be_given():
    overlaps = np.array([[1, 0.8, 0.1], [0.8, 1, 0.2], [0.1, 0.2, 1]], np.float32)
    assert run(tf.image.non_max_suppression_overlaps(overlaps, [0.5, 0.9, 0.7], 3, 0.5)).tolist() == [1, 2]


def test_suppression_by_class():
    boxes = np.tile(BOXES[None, :, None], (1, 1, 1, 1))
    scores = np.stack([SCORES, SCORES[::-1]], -1)[None]
    found, found_scores, classes, count = run(tf.image.combined_non_max_suppression(boxes, scores, 2, 5, 0.5, clip_boxes=False))
    assert count.tolist() == [4] and classes[0, :4].tolist() == [0, 1, 0, 1]
    np.testing.assert_allclose(found_scores[0], [0.95, 0.95, 0.9, 0.9, 0], rtol=1e-6)
    np.testing.assert_array_equal(found[0, 0], BOXES[3])
    assert found_scores.shape == (1, 5)


def test_boxes_have_four_corners_and_thresholds_are_shares():
    with pytest.raises(ValueError, match="Dimension must be 4 but is 3"):
        run(tf.image.non_max_suppression(BOXES[:, :3], SCORES, 3))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"iou_threshold must be in \[0, 1\]"):
        run(tf.image.non_max_suppression(BOXES, SCORES, 3, 1.2))


def test_boxes_are_drawn_on_their_edges():
    image = np.zeros((1, 5, 5, 1), np.float32)
    found = run(tf.image.draw_bounding_boxes(image, [[[0.25, 0.25, 0.75, 1.0]]]))[0, ..., 0]
    assert found.tolist() == [[0, 0, 0, 0, 0], [0, 1, 1, 1, 1], [0, 1, 0, 0, 1], [0, 1, 1, 1, 1], [0, 0, 0, 0, 0]]
    coloured = run(tf.image.draw_bounding_boxes(np.zeros((1, 2, 2, 3), np.float32), [[[0, 0, 1, 1]]], colors=[[0.5, 0.25, 0.75]]))
    assert coloured[0, 0, 0].tolist() == [0.5, 0.25, 0.75]


def test_sampled_boxes_are_those_of_tensorflow():
    # Drawn by TensorFlow 1.15.5 with the same seeds.
    begin, size, box = run(
        tf.image.sample_distorted_bounding_box(
            [333, 500, 3],
            [[[0.2, 0.1, 0.9, 0.8], [0, 0.5, 0.3, 1]]],
            seed=1,
            seed2=3,
            min_object_covered=0.3,
            aspect_ratio_range=[0.5, 2.0],
            area_range=[0.1, 0.9],
        )
    )
    assert begin.tolist() == SAMPLED[0] and size.tolist() == SAMPLED[1]
    corners = [begin[0] / 333, begin[1] / 500, (begin[0] + size[0]) / 333, (begin[1] + size[1]) / 500]
    np.testing.assert_allclose(box[0, 0], corners, rtol=1e-6)


def test_a_sampled_box_needs_a_box_to_cover():
    none = np.zeros((1, 0, 4), np.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="No bounding boxes provided"):
        run(tf.image.sample_distorted_bounding_box([9, 9, 3], none))
    begin, size, _ = run(tf.image.sample_distorted_bounding_box([9, 9, 3], none, use_image_if_no_bounding_boxes=True))
    assert (begin >= 0).all() and (begin[:2] + size[:2] <= 9).all()
