"""What the assertions of `tf.test.TestCase` accept and refuse."""

import collections

import ml_dtypes
import numpy as np
import pytest

from everflow.proto import graph_pb2, node_def_pb2, summary_pb2
from everflow.test import case as cases
from everflow.test.proto_asserts import proto_equal

Point = collections.namedtuple("Point", ["x", "y"])


@pytest.fixture
def case():
    return cases.TestCase("run")


@pytest.mark.parametrize(
    "a, b",
    [
        ([1.0, 2.0], (1.0, 2.0000001)),
        (np.nan, np.nan),
        (np.inf, np.inf),
        ({"a": [1.0], "b": Point(1, 2)}, {"a": [1.0], "b": {"x": 1, "y": 2}}),
        ([[1.0], [1.0, 2.0]], [[1.0], [1.0, 2.0]]),
        (np.bool_(True), True),
        (np.array(1.5, ml_dtypes.bfloat16), 1.5),
    ],
)
def test_close_values_pass(case, a, b):
    case.assertAllClose(a, b)


@pytest.mark.parametrize(
    "a, b, text",
    [
        ([1.0, 2.0], [1.0, 2.1], r"not close where = \(array\(\[1\]\),\)"),
        ({"a": {"b": [1.0]}}, {"a": {"b": [1.1]}}, r"Mismatched value: a\[a\]\[b\] is different from b\[a\]\[b\]"),
        ([1.0], [1.0, 2.0], r"Shape mismatch: expected \(1,\), got \(2,\)"),
        ({"a": 1}, {"b": 1}, "mismatched keys"),
        ([[1.0], [1.0, 2.0]], [[1.0], [1.0, 3.0]], r"a\[1\] is different from b\[1\]"),
        (np.inf, -np.inf, "not close lhs = inf"),
    ],
)
def test_values_that_are_not_close_fail(case, a, b, text):
    with pytest.raises(AssertionError, match=text):
        case.assertAllClose(a, b)
    case.assertNotAllClose(a, b)


def test_a_dict_is_not_compared_with_something_else(case):
    with pytest.raises(ValueError, match="Can't compare dict to non-dict, a vs b"):
        case.assertAllClose({"a": 1}, [1])


def test_tolerances_are_relative_to_the_second(case):
    case.assertAllClose(101.0, 100.0, rtol=0.01, atol=0)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        case.assertAllClose(100.0, 101.2, rtol=0.01, atol=0)


def test_less_precise_types_get_more_tolerance(case):
    one = np.float32(1)
    case.assertAllCloseAccordingToType(np.float16(1.0009765625), one)
    case.assertAllCloseAccordingToType(np.array(1.0078125, ml_dtypes.bfloat16), one)
    with pytest.raises(AssertionError, match="Not equal to tolerance rtol=1e-06"):
        case.assertAllCloseAccordingToType(np.float32(1.0009765625), one)
    with pytest.raises(AssertionError, match="Not equal to tolerance rtol=0.001"):
        case.assertAllCloseAccordingToType(np.float16(1.0078125), one)


def test_equality(case):
    case.assertAllEqual([1, np.nan], [1, np.nan])
    case.assertAllEqual(["a", "b"], np.array(["a", "b"]))
    for a, b, text in (
        ([1, 2], [1, 3], r"not equal where = \(array\(\[1\]\),\)\nnot equal lhs = \[2\]\nnot equal rhs = \[3\]"),
        ([1], [[1]], r"Shape mismatch: expected \(1,\), got \(1, 1\)"),
        ([1.0, np.nan], [np.nan, 1.0], "not equal"),
    ):
        with pytest.raises(AssertionError, match=text):
            case.assertAllEqual(a, b)
        case.assertNotAllEqual(a, b)


def test_bounds(case):
    case.assertAllGreater([2, 3], 1)
    case.assertAllLessEqual([2, 3], 3)
    case.assertAllInRange([1, 2], 1, 2)
    case.assertAllInSet([[1, 2]], {1, 2, 3})
    for check in (
        lambda: case.assertAllGreater([1, 2], 1),
        lambda: case.assertAllLess([1, 2], 2),
        lambda: case.assertAllGreaterEqual([1, 2], 2),
        lambda: case.assertAllInSet([1, 4], {1}),
        lambda: case.assertAllInRange([1, 2], 1, 2, open_lower_bound=True),
    ):
        with pytest.raises(AssertionError, match="outside the range|not in the set|not greater|not less"):
            check()
    with pytest.raises(AssertionError, match=r"1 of the 3 element\(s\) are outside the range \[1, 2\].*\n  \[2\] : 3"):
        case.assertAllInRange([1, 2, 3], 1, 2)
    with pytest.raises(AssertionError, match="are NaN"):
        case.assertAllInRange([np.nan], 0, 1)


def test_nearness(case):
    case.assertNear(1, 1.4, 0.5)
    case.assertArrayNear([1, 2], [1.1, 2.1], 0.2)
    case.assertNDArrayNear(np.ones(2), np.ones(2) + 0.1, 0.2)
    with pytest.raises(AssertionError, match=r"1.000000 != 2.000000 \+/- 0.500000 \(why\)"):
        case.assertNear(1, 2, 0.5, "why")
    with pytest.raises(AssertionError, match="False is not true"):
        case.assertNDArrayNear(np.ones(2), np.zeros(2), 0.5)


def test_protos_compare_with_text(case):
    value = summary_pb2.Summary.Value(tag="loss", simple_value=0.1)
    case.assertProtoEquals('tag: "loss" simple_value: 0.1', value)
    with pytest.raises(AssertionError, match='- tag: "other"'):
        case.assertProtoEquals('tag: "other" simple_value: 0.1', value)
    with pytest.raises(AssertionError, match="Can't compare protos of type"):
        case.assertProtoEquals(graph_pb2.GraphDef(), value)
    with pytest.raises(AssertionError, match="Can't compare protos of type"):
        case.assertProtoEquals(value, [value])
    graph = graph_pb2.GraphDef()
    graph.versions.producer = 134
    case.assertProtoEqualsVersion("", graph)


def test_fields_that_repeat_compare_by_element(case):
    def nodes(*names):
        return graph_pb2.GraphDef(node=[node_def_pb2.NodeDef(name=name) for name in names]).node

    case.assertProtoEquals(nodes("a", "b"), nodes("a", "b"))
    with pytest.raises(AssertionError, match='- name: "c"'):
        case.assertProtoEquals(nodes("a", "c"), nodes("a", "b"))
    assert proto_equal(nodes("a"), list(nodes("a"))) and not proto_equal(nodes("a"), nodes("a", "a"))
    assert proto_equal({1: nodes("a")}, {1: nodes("a")}) and not proto_equal({1: nodes("a")}, {2: nodes("a")})
    assert proto_equal([1, 2], [1, 2]) and not proto_equal(nodes("a")[0], 3)


def test_errors_match_by_text_or_predicate(case):
    with case.assertRaisesWithPredicateMatch(ValueError, "b.d"):
        raise ValueError("bad")
    with case.assertRaisesWithPredicateMatch(ValueError, lambda e: "bad" in str(e)):
        raise ValueError("bad")
    with pytest.raises(AssertionError, match="Exception of type <class 'ValueError'>: bad"):
        with case.assertRaisesWithPredicateMatch(ValueError, "good"):
            raise ValueError("bad")
    with pytest.raises(AssertionError, match="ValueError not raised"):
        with case.assertRaisesWithPredicateMatch(ValueError, "good"):
            pass


def test_errors_of_threads_fail_the_test(case):
    def fail():
        raise ValueError("in the thread")

    thread = case.checkedThread(target=fail)
    thread.start()
    with pytest.raises(AssertionError, match="Error in checkedThread: in the thread"):
        thread.join()
