"""Assertions about arrays and nested structures of arrays, for `tf.test.TestCase`."""

from __future__ import annotations

import collections.abc
import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from everflow import api, nest
from everflow.graph.stacks import get_default_graph, in_eager_mode
from everflow.graph.tensor import Tensor
from everflow.nest import _is_composite_tensor, _is_namedtuple

if TYPE_CHECKING:
    from absl.testing import absltest

    class _Case(absltest.TestCase):
        """What the assertions are mixed into."""

        def evaluate(self, tensors: Any) -> Any: ...
else:
    _Case = object

# The tolerances that go with a type of less precision; `assertAllCloseAccordingToType` takes the loosest that applies.
_LOOSER = {"float32": "float", "complex64": "float", "float16": "half", "bfloat16": "bfloat16"}


def _is_ragged(value: Any) -> bool:
    return hasattr(value, "row_splits") and hasattr(value, "to_list") or hasattr(value, "nested_row_splits")


def when_it_runs(assertion: Any) -> Any:
    """In the body of a function, tensors have no values yet: the assertion becomes a part of the body."""

    @functools.wraps(assertion)
    def assert_now_or_later(self: Any, *args: Any, **kwargs: Any) -> None:
        arguments = nest.flatten((args, kwargs))
        places = [i for i, value in enumerate(arguments) if isinstance(value, Tensor) and not value.is_eager]
        if not places or in_eager_mode() or not get_default_graph().building_function:
            assertion(self, *args, **kwargs)
            return

        def check(*values: Any) -> None:
            known = list(arguments)
            for place, value in zip(places, values):
                known[place] = value
            now, named = nest.pack_sequence_as((args, kwargs), known)
            assertion(self, *now, **named)

        api.find("py_func")(check, [arguments[place] for place in places], [])

    return assert_now_or_later


class ArrayAssertions(_Case):
    """Mixed into the test case, which says how tensors are evaluated."""

    def _GetNdArray(self, a: Any) -> np.ndarray:
        if isinstance(a, Tensor) and a.is_eager:
            a = a.numpy()
        elif isinstance(a, Tensor) or hasattr(a, "_as_graph_element") or _is_composite_tensor(a):
            a = self.evaluate(a)
        if isinstance(a, np.ndarray):
            return a
        try:
            return np.array(a)
        except ValueError:
            # Lists of different lengths: an array of objects, as numpy made of them in TensorFlow's days.
            return np.array(a, dtype=object)

    def _GetPyList(self, a: Any) -> Any:
        """Ragged values, arrays and tensors as nested lists."""
        if _is_ragged(a):
            return (a if hasattr(a, "to_list") and not _is_composite_tensor(a) else self.evaluate(a)).to_list()
        return self._GetNdArray(a).tolist() if not isinstance(a, list) else a

    # -- close

    @when_it_runs
    def assertAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None) -> None:
        """Both are nested alike and hold numbers with |a - b| <= atol + rtol * |b|; NaN is close to NaN."""
        if _is_ragged(a) or _is_ragged(b):
            self._assert_lists_close(self._GetPyList(a), self._GetPyList(b), rtol, atol, "", msg)
        else:
            self._assert_close_at(a, b, rtol, atol, "", msg or "")

    def _assert_lists_close(self, a: Any, b: Any, rtol: float, atol: float, path: str, msg: str | None) -> None:
        if isinstance(a, list) and isinstance(b, list):
            self.assertEqual(len(a), len(b), f"Mismatched length at value{path}: {msg or ''}")
            for i, (x, y) in enumerate(zip(a, b)):
                self._assert_lists_close(x, y, rtol, atol, f"{path}[{i}]", msg)
        else:
            self._assert_close_at(a, b, rtol, atol, path, msg or "")

    def _assert_close_at(self, a: Any, b: Any, rtol: float, atol: float, path: str, msg: str) -> None:
        a, b = ((x._asdict() if _is_namedtuple(x) else x) for x in (a, b))
        mappings = [isinstance(x, collections.abc.Mapping) for x in (a, b)]
        if any(mappings):
            if not all(mappings):
                raise ValueError(f"Can't compare dict to non-dict, a{path} vs b{path}. {msg}")
            keys = f"a{path} has keys {a.keys()}, but b{path} has keys {b.keys()}"
            self.assertCountEqual(a.keys(), b.keys(), msg=f"mismatched keys: {keys}. {msg}")
            for key in a:
                self._assert_close_at(a[key], b[key], rtol, atol, f"{path}[{key}]", msg)
        elif isinstance(a, (list, tuple)):
            self._assert_sequences_close(a, b, rtol, atol, path, msg)
        else:
            text = f"Mismatched value: a{path} is different from b{path}. {msg}"
            try:
                self._assert_arrays_close(a, b, rtol, atol, text)
            except TypeError as error:
                raise TypeError(f"{error} : Error: a{path} has {type(a)}, but b{path} has {type(b)}. {msg}") from error

    def _assert_sequences_close(self, a: Any, b: Any, rtol: float, atol: float, path: str, msg: str) -> None:
        try:
            arrays = self._as_numbers(a), self._as_numbers(b)
        except (ValueError, TypeError, NotImplementedError):
            arrays = None
        if arrays is not None:
            self._assert_arrays_close(*arrays, rtol, atol, f"Mismatched value: a{path} is different from b{path}. {msg}")
            return
        if len(a) != len(b):
            raise ValueError(f"Mismatched length: a{path} has {len(a)} items, but b{path} has {len(b)} items. {msg}")
        for i, (x, y) in enumerate(zip(a, b)):
            self._assert_close_at(x, y, rtol, atol, f"{path}[{i}]", msg)

    def _as_numbers(self, a: Any) -> np.ndarray:
        """The array of a sequence; ValueError for one that holds structures, tensors or rows of different lengths."""
        array = self._GetNdArray(a)
        if array.dtype.kind in "OSU":
            raise ValueError("not an array of numbers")
        return array

    def _assert_arrays_close(self, a: Any, b: Any, rtol: float, atol: float, msg: str) -> None:
        a, b = self._GetNdArray(a), self._GetNdArray(b)
        contents = f" with contents {b}" if b.size <= 3 else "."
        self.assertEqual(a.shape, b.shape, f"Shape mismatch: expected {a.shape}, got {b.shape}{contents}")
        # Subtraction of small unsigned or bool values would wrap or fail, and bfloat16 is unknown to numpy's tests.
        x, y = (v.astype(np.float32) if v.dtype.name == "bfloat16" else v for v in (a, b))
        if not np.allclose(x, y, rtol=rtol, atol=atol):
            with np.errstate(invalid="ignore"):
                far = np.abs(x - y) > atol + rtol * np.abs(y)
                far |= (np.isfinite(x) != np.isfinite(y)) | (np.isnan(x) != np.isnan(y))
                lines = [msg, f"not close where = {np.where(far)}"] if x.ndim else [msg]
                lhs, rhs = (x[far], y[far]) if x.ndim else (x, y)
                lines += [
                    f"not close lhs = {lhs}",
                    f"not close rhs = {rhs}",
                    f"not close dif = {np.abs(lhs - rhs)}",
                    f"not close tol = {atol + rtol * np.abs(rhs)}",
                    f"dtype = {a.dtype}, shape = {a.shape}",
                ]
            np.testing.assert_allclose(x, y, rtol=rtol, atol=atol, err_msg="\n".join(lines), equal_nan=True)

    @when_it_runs
    def assertAllCloseAccordingToType(
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: str | None = None,
    ) -> None:
        """Like `assertAllClose`, with the looser tolerances that the less precise of the two types deserves."""
        a, b = self._GetNdArray(a), self._GetNdArray(b)
        tolerances = {"float": (float_rtol, float_atol), "half": (half_rtol, half_atol), "bfloat16": (bfloat16_rtol, bfloat16_atol)}
        for array in (a, b):
            looser = tolerances.get(_LOOSER.get(array.dtype.name, ""), (0, 0))
            rtol, atol = max(rtol, looser[0]), max(atol, looser[1])
        self.assertAllClose(a, b, rtol=rtol, atol=atol, msg=msg)

    @when_it_runs
    def assertNotAllClose(self, a: Any, b: Any, **kwargs: Any) -> None:
        try:
            self.assertAllClose(a, b, **kwargs)
        except AssertionError:
            return
        raise AssertionError("The two values are close at all elements")

    @when_it_runs
    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        reason = f" ({msg})" if msg is not None else ""
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, f"{np.asarray(f1).item():f} != {np.asarray(f2).item():f} +/- {err:f}{reason}")

    @when_it_runs
    def assertArrayNear(self, farray1: Any, farray2: Any, err: float, msg: str | None = None) -> None:
        self.assertEqual(len(farray1), len(farray2), msg=msg)
        for pair in zip(farray1, farray2):
            self.assertNear(*map(float, pair), err, msg=msg)

    def _NDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float) -> bool:
        return bool(np.linalg.norm(ndarray1 - ndarray2) < err)

    @when_it_runs
    def assertNDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float, msg: str | None = None) -> None:
        """The norm of the difference is below `err`."""
        self.assertTrue(self._NDArrayNear(ndarray1, ndarray2, err), msg=msg)

    # -- equal

    @when_it_runs
    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Same shape and same values; NaN equals NaN."""
        if _is_ragged(a) or _is_ragged(b):
            self.assertEqual(self._GetPyList(a), self._GetPyList(b), msg)
            return
        a, b = self._GetNdArray(a), self._GetNdArray(b)
        contents = f" Contents: {b}. \n{msg or ''}." if b.size <= 3 else f"{msg or ''}."
        self.assertEqual(a.shape, b.shape, f"Shape mismatch: expected {a.shape}, got {b.shape}.{contents}")
        same = np.asarray(a == b)
        if {a.dtype.kind, b.dtype.kind} <= set("fc"):
            same = same | (np.isnan(a) & np.isnan(b))
        elif a.dtype.name == b.dtype.name == "bfloat16":
            same = same | ((a != a) & (b != b))
        if not np.all(same):
            unequal = np.logical_not(np.broadcast_to(same, a.shape))
            lines = [msg or ""]
            if a.ndim:
                lines += [f"not equal where = {np.where(unequal)}"]
                lhs, rhs = a[unequal], b[unequal]
            else:
                lhs, rhs = a, b
            lines += [f"not equal lhs = {lhs}", f"not equal rhs = {rhs}"]
            np.testing.assert_array_equal(a, b, err_msg="\n".join(lines))

    @when_it_runs
    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError(f"The two values are equal at all elements{' ' + msg if msg else ''}")

    def assertShapeEqual(self, np_array: Any, tf_tensor: Any, msg: str | None = None) -> None:
        if not isinstance(np_array, (np.ndarray, np.generic)):
            raise TypeError("np_array must be a Numpy ndarray or Numpy scalar")
        if not isinstance(tf_tensor, Tensor):
            raise TypeError("tf_tensor must be a Tensor")
        self.assertAllEqual(np_array.shape, tf_tensor.get_shape().as_list(), msg=msg)

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        target = self._GetNdArray(target)
        if not isinstance(target, list):
            self.assertEqual(target.dtype, expected_dtype)

    # -- bounds

    @when_it_runs
    def assertAllGreater(self, a: Any, comparison_target: float) -> None:
        self.assertGreater(np.min(self._GetNdArray(a)), comparison_target)

    @when_it_runs
    def assertAllLess(self, a: Any, comparison_target: float) -> None:
        self.assertLess(np.max(self._GetNdArray(a)), comparison_target)

    @when_it_runs
    def assertAllGreaterEqual(self, a: Any, comparison_target: float) -> None:
        self.assertGreaterEqual(np.min(self._GetNdArray(a)), comparison_target)

    @when_it_runs
    def assertAllLessEqual(self, a: Any, comparison_target: float) -> None:
        self.assertLessEqual(np.max(self._GetNdArray(a)), comparison_target)

    @when_it_runs
    def assertAllInRange(
        self, target: Any, lower_bound: float, upper_bound: float, open_lower_bound: bool = False, open_upper_bound: bool = False
    ) -> None:
        """No NaN, and each element within the bounds; an open bound is itself outside."""
        target = self._GetNdArray(target)
        if target.dtype.kind not in "iuf" and target.dtype.name != "bfloat16":
            raise AssertionError(f"The value of {target} does not have an ordered numeric type, instead it has type: {target.dtype}")
        nans = np.argwhere(np.isnan(target))
        if len(nans):
            raise AssertionError(
                f"{len(nans)} of the {target.size} element(s) are NaN. Subscripts(s) and value(s) of the NaN "
                f"element(s):\n" + "\n".join(self._format_subscripts(nans, target))
            )
        below = target <= lower_bound if open_lower_bound else target < lower_bound
        above = target >= upper_bound if open_upper_bound else target > upper_bound
        outside = np.argwhere(below | above)
        if len(outside):
            bounds = f"{'(['[not open_lower_bound]}{lower_bound}, {upper_bound}{')]'[not open_upper_bound]}"
            raise AssertionError(
                f"{len(outside)} of the {target.size} element(s) are outside the range {bounds}. Subscript(s) and "
                f"value(s) of the offending elements:\n" + "\n".join(self._format_subscripts(outside, target))
            )

    def _format_subscripts(self, subscripts: Any, value: Any, limit: int = 10, indent: int = 2) -> list[str]:
        lines = [" " * indent + str([int(i) for i in subscript]) + " : " + str(value[tuple(subscript)]) for subscript in subscripts[:limit]]
        return lines + [" " * indent + "..."] if len(subscripts) > limit else lines

    @when_it_runs
    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        unknown = np.setdiff1d(self._GetNdArray(target), list(expected_set))
        if unknown.size:
            raise AssertionError(f"{unknown.size} unique element(s) are not in the set {expected_set}: {unknown}")
