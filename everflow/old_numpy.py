"""What numpy dropped and programs of TensorFlow 1's time use: names (`np.object`, ...), methods of arrays, how numbers are shown."""
from __future__ import annotations

import ctypes
import gc
from typing import Any


def restore() -> None:
    """Gives numpy its old names back, where it lacks them, and shows its numbers as 1.5, not as np.float32(1.5)."""
    import numpy as np

    old = {
        "bool": bool, "int": int, "float": float, "complex": complex, "object": object, "str": str, "long": int, "unicode": str,
        "bool8": np.bool_, "float_": np.float64, "complex_": np.complex128, "string_": np.bytes_, "unicode_": np.str_, "int0": np.intp,
        "Inf": np.inf, "Infinity": np.inf, "infty": np.inf, "PINF": np.inf, "NINF": -np.inf, "NaN": np.nan, "PZERO": 0.0, "NZERO": -0.0,
        "alltrue": np.all, "sometrue": np.any, "product": np.prod, "cumproduct": np.cumprod, "in1d": np.isin, "row_stack": np.vstack,
        "round_": np.round, "asfarray": lambda a, dtype=np.float64: np.asarray(a, dtype), "asscalar": lambda a: a.item(),
        "trapz": getattr(np, "trapezoid", None),
    }
    if np.lib.NumpyVersion(np.__version__) >= "2.4.0":
        old_reshape = np.reshape

        def reshape(a: Any, shape: Any = None, order: Any = "C", *, newshape: Any = None, **others: Any) -> Any:
            """numpy's own, with the name that its second argument had."""
            return old_reshape(a, shape if newshape is None else newshape, order, **others)

        np.reshape = reshape
    if np.lib.NumpyVersion(np.__version__) >= "1.24.0":
        new_array = np.array

        def array(object: Any, dtype: Any = None, **others: Any) -> Any:
            """numpy's own; lists of different lengths make an array of objects."""
            try:
                return new_array(object, dtype, **others)
            except ValueError as error:
                if dtype is not None or "inhomogeneous" not in str(error):
                    raise
                return new_array(object, np.object_, **others)

        def ndim(a: Any) -> int:
            """numpy's own, for such lists too."""
            return a.ndim if hasattr(a, "ndim") else array(a).ndim

        np.array = array  # type: ignore[assignment]
        np.ndim = ndim
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        # They are still there and say that they were removed.
        put_methods(np.ndarray, ptp=lambda a, axis=None, out=None, **others: np.ptp(a, axis, out, **others),
                    newbyteorder=lambda a, new_order="S": a.view(a.dtype.newbyteorder(new_order)), itemset=_itemset)
    if np.lib.NumpyVersion(np.__version__) >= "2.3.0":
        for kind in (np.ndarray, np.generic):
            put_methods(kind, tostring=lambda a, order="C": a.tobytes(order))
    for name, value in old.items():
        if name not in np.__dict__ and value is not None:
            setattr(np, name, value)
    if int(np.__version__.partition(".")[0]) >= 2:
        np.set_printoptions(legacy="1.25")  # type: ignore[arg-type]


def _itemset(a: Any, *where_and_value: Any) -> None:
    """Sets one element: a.itemset(value), a.itemset(flat_index, value), a.itemset((i, j), value) or a.itemset(i, j, value)."""
    *where, value = where_and_value
    if len(where) == 1 and not isinstance(where[0], tuple):
        a.flat[where[0]] = value
    elif where:
        a[where[0] if len(where) == 1 else tuple(where)] = value
    else:
        a[...] = value


def put_methods(cls: type, **methods: Any) -> None:
    """Gives methods to a class of an extension module, which Python's own `setattr` refuses."""
    (own,) = gc.get_referents(cls.__dict__)
    for name, method in methods.items():
        method.__name__ = name
        own[name] = method
    # Python remembers what it found in classes before.
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(cls))
