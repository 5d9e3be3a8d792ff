"""The base of tests of datasets."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import errors
from everflow.api import internal
from everflow.data import nesting, structure
from everflow.data.dataset import make_initializable_iterator, make_one_shot_iterator
from everflow.eager.context import executing_eagerly
from everflow.graph import dtypes
from everflow.graph.sparse_tensor import is_sparse
from everflow.graph.stacks import get_default_graph
from everflow.ops.control_flow.bodies import is_tensor_array
from everflow.test.case import TestCase
from everflow.test.combinations import combine


@internal("data.kernel_tests.test_base.default_test_combinations")
def default_test_combinations() -> list[Any]:
    """Both modes, both versions of the API."""
    return combine(mode=["eager", "graph"], tf_api_version=[1, 2])


@internal("data.kernel_tests.test_base.DatasetTestBase")
class DatasetTestBase(TestCase):
    """Says what a dataset gives, in either mode."""

    def getNext(self, dataset: Any, requires_initialization: bool = False, shared_name: str | None = None) -> Callable[[], Any]:
        """A function that gives the next element: to be evaluated again and again in a graph."""
        if executing_eagerly() or get_default_graph().building_function:
            following = iter(dataset)._next_internal
        else:
            if requires_initialization:
                iterator = make_initializable_iterator(dataset, shared_name)
                self.evaluate(iterator.initializer)
            else:
                iterator = make_one_shot_iterator(dataset)
            element = iterator.get_next()
            following = lambda: element

        def stacked() -> Any:
            found = following()
            return found.stack() if is_tensor_array(found) else found

        return stacked

    def assertDatasetProduces(
        self,
        dataset: Any,
        expected_output: Any = None,
        expected_shapes: Any = None,
        expected_error: Any = None,
        requires_initialization: bool = False,
        num_test_iterations: int = 1,
        assert_items_equal: bool = False,
        expected_error_iter: int = 1,
    ) -> None:
        """The dataset gives these elements and then ends, or raises this error."""
        if (expected_error is None) == (expected_output is None):
            self.fail("Exactly one of expected_output or expected error should be provided.")
        if expected_error is not None:
            with self.assertRaisesWithPredicateMatch(*expected_error):
                following = self.getNext(dataset, requires_initialization)
                for _ in range(expected_error_iter):
                    self.evaluate(following())
            return
        if expected_shapes:
            self.assertEqual(expected_shapes, structure.get_output_shapes(dataset))
        for _ in range(num_test_iterations):
            following = self.getNext(dataset, requires_initialization)
            found = [self.evaluate(following()) for _ in range(len(expected_output))]
            if assert_items_equal:
                self.assertItemsEqual(found, expected_output)
            else:
                for element, expected in zip(found, expected_output):
                    self._assert_same(expected, element)
            # The end stays the end.
            for _ in range(2):
                with self.assertRaises(errors.OutOfRangeError):
                    self.evaluate(following())

    def _assert_same(self, expected: Any, element: Any) -> None:
        nesting.assert_same_structure(element, expected)
        for want, got in zip(nesting.flatten(expected), nesting.flatten(element)):
            self.assertValuesEqual(want, got)

    def assertValuesEqual(self, expected: Any, actual: Any) -> None:
        """Two values, perhaps sparse, are the same."""
        parts = ("indices", "values", "dense_shape") if is_sparse(expected) else ()
        for part in parts:
            self.assertAllEqual(getattr(expected, part), getattr(actual, part))
        if not parts:
            self.assertAllEqual(expected, actual)

    def assertDatasetsEqual(self, dataset1: Any, dataset2: Any) -> None:
        """Two datasets give the same elements."""
        self.assertTrue(structure.are_compatible(structure.get_structure(dataset1), structure.get_structure(dataset2)))
        following = self.getNext(dataset1), self.getNext(dataset2)
        types = nesting.flatten(structure.get_output_types(dataset1))
        while True:
            element = None
            with contextlib.suppress(errors.OutOfRangeError):
                element = self.evaluate(following[0]())
            if element is None:
                with self.assertRaises(errors.OutOfRangeError):
                    self.evaluate(following[1]())
                return
            pairs = zip(nesting.flatten(element), nesting.flatten(self.evaluate(following[1]())), types)
            for a, b, dtype in pairs:
                if is_sparse(a) or hasattr(a, "to_list") or dtype == dtypes.string:
                    self.assertValuesEqual(a, b)
                else:
                    self.assertAllClose(a, b)

    def assertDatasetsRaiseSameError(self, dataset1: Any, dataset2: Any, exception_class: Any, replacements: Any = None) -> None:
        """The first element of both raises an error of a kind, with the same message but for some replacements."""
        with self.assertRaises(exception_class) as caught:
            self.evaluate(self.getNext(dataset1)())
        message = caught.exception.message
        for old, new, count in replacements or ():
            message = message.replace(old, new, count)
        with self.assertRaisesRegex(exception_class, re.escape(message)):
            self.evaluate(self.getNext(dataset2)())

    def assert_op_cancelled(self, op: Any) -> None:
        """Evaluating it ends with a CancelledError."""
        with self.assertRaises(errors.CancelledError):
            self.evaluate(op)

    def structuredDataset(self, dataset_structure: Any, shape: Any = None, dtype: dtypes.DTypeLike = dtypes.int64) -> Any:
        """A dataset of zeros in a structure of nested tuples in which None is a leaf."""
        if dataset_structure is None:
            return tf.data.Dataset.from_tensors(tf.zeros(shape or [], dtype=dtype))
        return tf.data.Dataset.zip(tuple(self.structuredDataset(part, shape, dtype) for part in dataset_structure))

    def structuredElement(self, element_structure: Any, shape: Any = None, dtype: dtypes.DTypeLike = dtypes.int64) -> Any:
        """Zeros in such a structure."""
        if element_structure is None:
            return tf.zeros(shape or [], dtype=dtype)
        return tuple(self.structuredElement(part, shape, dtype) for part in element_structure)
