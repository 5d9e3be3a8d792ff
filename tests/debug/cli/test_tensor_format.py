"""Tensors as text, and their elements found in it again."""

import ml_dtypes
import numpy as np
import pytest

from everflow.debug.cli.tensor_format import HighlightOptions, format_tensor, locate_tensor_element, numeric_summary
from everflow.debug.dump_files import InconvertibleTensorProto
from everflow.graph.tensor_proto import make_tensor_proto


@pytest.fixture(autouse=True)
def print_options():
    """Formatting sets numpy's options, as TensorFlow does."""
    with np.printoptions():
        yield


def test_the_text_is_what_numpy_prints_below_what_is_to_say():
    array = np.float32([[1, 2], [3, 4]])
    text = format_tensor(array, "s/a:0:DebugIdentity", include_metadata=True)
    assert text.lines == ['Tensor "s/a:0:DebugIdentity":', "  dtype: float32", "  shape: (2, 2)", "", *repr(array).split("\n")]
    assert text.font_attr_segs[0] == [(8, 13, "bold"), (14, 27, "yellow")]
    assert text.annotations[4] == {"i0": [0, 0]} and text.annotations[5] == {"i0": [1, 0]}
    assert text.annotations["tensor_metadata"] == {"dtype": array.dtype, "shape": (2, 2)}
    assert format_tensor(array, None).lines == repr(array).split("\n")


def element(text, indices):
    omitted, line, start, end = locate_tensor_element(text, indices)
    assert not omitted
    return text.lines[line][start:end]


@pytest.mark.parametrize(
    "array",
    [
        np.arange(60.0).reshape(3, 4, 5) * -1.25,
        np.float32([[np.nan, -np.inf], [1e-30, 7]]),
        np.int32([[1, -2], [30, 4]]),
        np.array([[1.5 + 2j, 3], [-4j, 0]]),
        np.array([[True, False], [False, False]]),
        np.array([b"a, b", b"c] '", b'd"', b"..."], object),
        np.array(42),
    ],
    ids=["float64", "float32", "int32", "complex", "bool", "string", "scalar"],
)
def test_every_element_is_found_again(array):
    text = format_tensor(array, "a", np_printoptions={"linewidth": 40})
    for indices in np.ndindex(array.shape):
        found = element(text, list(indices))
        value = array[indices] if array.shape else array[()]
        shown = eval(found.replace(" ", "") if array.dtype.kind == "c" else found, {"nan": np.nan, "inf": np.inf})
        np.testing.assert_equal(array.dtype.type(shown) if array.dtype != object else shown, value)


def test_what_dots_leave_out_is_known():
    array = np.arange(1000, 2331).reshape(11, 11, 11)
    text = format_tensor(array, "a", np_printoptions={"threshold": 100, "edgeitems": 2, "linewidth": 80})
    assert element(text, [0, 1, 1]) == "1012"
    dots = next(number for number, line in enumerate(text.lines) if line.strip() == "...,")
    assert text.annotations[dots] == {"omitted": [0, 2, 0]}
    assert locate_tensor_element(text, [0, 8, 10]) == (True, dots, None, None)
    # Behind dots in its own line, an element's columns are not known.
    _, line, start, end = locate_tensor_element(text, [10, 10, 10])
    assert "2330" in text.lines[line] and (start, end) == (None, None)


def test_lines_behind_dots_begin_with_the_right_element():
    text = format_tensor(np.arange(200.0), "a", np_printoptions={"threshold": 10, "edgeitems": 3, "linewidth": 25})
    assert "..." in "".join(text.lines)
    assert element(text, [198]) == "198."


def test_several_elements_are_looked_for_at_once_in_ascending_order():
    text = format_tensor(np.arange(4.0).reshape(2, 2), "a")
    assert locate_tensor_element(text, [[0, 1], [1, 0]]) == ([False, False], [2, 3], [12, 8], [14, 10])
    for indices, error in (
        ([[1, 0], [0, 1]], "not in ascending order"),
        ([2, 0], "Indices exceed tensor dimensions"),
        ([-1, 0], "negative value"),
        ([0], "Dimensions mismatch: requested: 1; actual: 2"),
    ):
        with pytest.raises(ValueError, match=error):
            locate_tensor_element(text, indices)


def test_elements_are_highlighted_where_a_criterion_holds():
    text = format_tensor(np.arange(4.0).reshape(2, 2), "a:0", highlight_options=HighlightOptions(lambda x: x > 1, "large"))
    assert text.lines[0] == 'Tensor "a:0": Highlighted(large): 2 of 4 element(s) (50.00%)'
    assert {line: segments for line, segments in text.font_attr_segs.items() if line} == {3: [(8, 10, "bold"), (12, 14, "bold")]}


def test_what_is_no_array_is_shown_as_it_is():
    assert format_tensor([1, 2], "a").lines == ['Tensor "a":', "", "[1, 2]"]
    proto = make_tensor_proto([1.0])
    text = format_tensor(InconvertibleTensorProto(proto, False), "a")
    assert text.lines == ['Tensor "a":', "", "Uninitialized tensor:", *str(proto).split("\n")]
    with pytest.raises(AttributeError, match="tensor_metadata is not available in annotations"):
        locate_tensor_element(text, [0])


@pytest.mark.parametrize(
    ("array", "lines"),
    [
        (
            np.array([np.nan, -np.inf, -2.0, 0.0, 0.0, 1.0]),
            [
                "|  nan -inf    -    0    + | total |",
                "|    1    1    1    2    1 |     6 |",
                "|                 min                 max                mean                 std |",
                "|                -2.0                 1.0               -0.25 1.0897247358851685 |",
            ],
        ),
        (np.array([3, 3, -3]), ["| - + | total |", "| 1 2 |     3 |"]),
        (np.array([True, False, True]), ["| False  True | total |", "|     1     2 |     3 |"]),
        (np.array([1 + 1j, np.nan]), ["|    nan finite | total |", "|      1      1 |     2 |"]),
        (np.array([1, 2], ml_dtypes.bfloat16), ["| + | total |", "| 2 |     2 |", "|  min  max mean  std |", "|  1.0  2.0  1.5  0.5 |"]),
        (np.array([]), ["No numeric summary available due to empty tensor."]),
        (np.array([b"a"], object), ["No numeric summary available due to tensor dtype: object."]),
    ],
    ids=["float", "int", "bool", "complex", "bfloat16", "empty", "string"],
)
def test_a_summary_counts_the_kinds_of_numbers(array, lines):
    found = [" ".join(line.split()) for line in numeric_summary(array).lines]
    assert found[: len(lines)] == [" ".join(line.split()) for line in lines]
