"""tf.contrib.labeled_tensor: axes with names and labels."""

from __future__ import annotations

import numpy as np
import pytest

import everflow as tf
from running import run

lt = tf.contrib.labeled_tensor
IMAGE = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)


@pytest.fixture
def image():
    return lt.LabeledTensor(IMAGE, ["row", ("channel", ["red", "green", "blue"]), ("x", range(4))])


def test_axes_have_sizes_and_labels(image):
    assert image.axes["row"].size == 2 and image.axes["row"].labels is None
    assert image.axes["channel"].index("blue") == 2 and len(image.axes["x"]) == 4
    assert repr(image.axes["row"]) == "Axis('row', Dimension(2))"
    assert lt.Axes([("a", 2)]) == lt.Axes([("a", 2)]) != lt.Axes([("a", [1, 2])])
    assert image.axes.remove("x") == lt.Axes([("row", 2), ("channel", ["red", "green", "blue"])])


@pytest.mark.parametrize(
    "axes, error, what",
    [
        (["a", "b"], ValueError, "had 3 axes, but 2 were given"),
        (["a", "b", ("c", 5)], ValueError, "Axis 'c' has size 5"),
        (["a", "a", "c"], ValueError, "Duplicate axis names"),
        (["a", ("b", [1, 1, 2]), "c"], ValueError, "Tick labels must be unique"),
    ],
)
def test_axes_must_fit_the_tensor(axes, error, what):
    with pytest.raises(error, match=what):
        lt.LabeledTensor(IMAGE, axes)


def test_parts_are_taken_by_label_and_place(image):
    assert run(lt.select(image, {"channel": "green"}).tensor).tolist() == IMAGE[:, 1].tolist()
    both = lt.select(image, {"channel": slice("green", "blue")})
    assert both.axes["channel"].labels == ("green", "blue") and run(both.tensor).tolist() == IMAGE[:, 1:].tolist()
    listed = lt.select(image, {"channel": ["blue", "red"]})
    assert run(listed.tensor).tolist() == IMAGE[:, [2, 0]].tolist() and listed.axes["channel"].labels == ("blue", "red")
    assert run(image[1, :, 2:].tensor).tolist() == IMAGE[1, :, 2:].tolist()
    assert list(lt.slice(image, {"row": 0}).axes) == ["channel", "x"]
    with pytest.raises(KeyError):
        lt.select(image, {"channel": "purple"})
    with pytest.raises(ValueError, match="does not have tick labels"):
        lt.select(image, {"row": 1})


def test_tensors_are_aligned_by_name(image):
    weights = lt.LabeledTensor(np.float32([1, 10, 100]), [("channel", ["red", "green", "blue"])])
    weighted = image * weights
    assert list(weighted.axes) == ["row", "channel", "x"]
    assert run(weighted.tensor).tolist() == (IMAGE * np.float32([1, 10, 100])[:, None]).tolist()
    assert run((2.0 - image).tensor).tolist() == (2 - IMAGE).tolist()
    other = lt.LabeledTensor(np.float32([1, 2, 3]), [("channel", ["cyan", "green", "blue"])])
    with pytest.raises(ValueError, match="Mismatched 'channel' axis"):
        image + other
    with pytest.raises(lt.AxisOrderError, match="No common axis order"):
        lt.add(lt.LabeledTensor(IMAGE[0], ["a", "b"]), lt.LabeledTensor(IMAGE[0].T, ["b", "a"]))
    with lt.axis_order_scope(["b", "a"]):
        summed = lt.add(lt.LabeledTensor(IMAGE[0], ["a", "b"]), lt.LabeledTensor(IMAGE[0].T, ["b", "a"]))
    assert run(summed.tensor).tolist() == (2 * IMAGE[0].T).tolist()


def test_reductions_drop_axes_or_keep_them_with_a_label(image):
    assert run(lt.reduce_sum(image, "channel").tensor).tolist() == IMAGE.sum(1).tolist()
    kept = lt.reduce_mean(image, {("channel", "gray")})
    assert kept.axes["channel"].labels == ("gray",) and run(kept.tensor).shape == (2, 1, 4)
    assert run(lt.reduce_max(image).tensor) == 23
    with pytest.raises(ValueError, match="not contained in the set"):
        lt.reduce_sum(image, "depth")


def test_products_sum_over_the_common_axis():
    a, b = lt.LabeledTensor(IMAGE[0], ["x", "y"]), lt.LabeledTensor(IMAGE[1].T, ["y", "z"])
    assert run(lt.matmul(a, b).tensor).tolist() == (IMAGE[0] @ IMAGE[1].T).tolist()
    assert list(lt.matmul(b, a).axes) == ["z", "x"]
    with pytest.raises(ValueError, match="exactly one axis in common"):
        lt.matmul(a, lt.LabeledTensor(np.float32([1, 2]), ["w"]))


def test_shapes_change_with_their_axes(image):
    flat = lt.reshape(image, ["channel", "x"], ["depth"])
    assert list(flat.axes) == ["row", "depth"] and flat.axes["depth"].size == 12
    coder = lt.ReshapeCoder(["channel", "x"], ["depth"])
    assert coder.decode(coder.encode(image)).axes == image.axes
    padded = lt.pad(image, {"channel": ([], ["alpha"])})
    assert padded.axes["channel"].labels == ("red", "green", "blue", "alpha") and run(padded.tensor)[:, 3].sum() == 0
    assert run(lt.concat([image, lt.rename_axis(image, "row", "row")], "row").tensor).shape == (4, 3, 4)
    assert run(lt.transpose(image).tensor).tolist() == IMAGE.T.tolist()
    assert [part.shape.as_list() for part in lt.unpack(image, "channel")] == [[2, 4]] * 3
    with pytest.raises(ValueError, match="cannot tile axes with tick labels"):
        lt.tile(image, {"channel": 2})


def test_functions_are_mapped_and_folded_over_the_first_axis(image):
    assert run(lt.map_fn(lambda part: lt.reduce_sum(part, "x"), image).tensor).tolist() == IMAGE.sum(2).tolist()
    start = lt.zeros_like(lt.slice(image, {"row": 0}))
    assert run(lt.foldl(lt.add, image, start).tensor).tolist() == IMAGE.sum(0).tolist()


def test_examples_are_parsed_with_axes():
    example = tf.train.Example(features=tf.train.Features(feature={"b": tf.train.Feature(int64_list=tf.train.Int64List(value=[2, 3, 4]))}))
    serialized = lt.LabeledTensor([example.SerializeToString()], ["batch"])
    parsed = lt.parse_example(serialized, {"b": lt.FixedLenFeature([("x", [7, 8, 9])], tf.int64)})["b"]
    assert run(lt.select(parsed, {"x": 8}).tensor).tolist() == [3]
    with pytest.raises(ValueError, match="unknown size"):
        lt.parse_example(serialized, {"b": lt.FixedLenFeature([("x", None)], tf.int64)})


def test_a_labeled_tensor_is_fetched_and_used_as_a_tensor(session):
    fed = lt.placeholder(tf.float32, ["x"])
    assert session.run(2.0 * fed, {fed.tensor: [1, 2]}).tolist() == [2, 4]
    assert session.run(tf.reduce_sum(fed), {fed.tensor: [1, 2]}) == 3
