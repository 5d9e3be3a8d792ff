"""What numpy dropped and programs of TensorFlow 1's time use: names (`np.object`, `np.float`, ...), and how numbers are shown."""
from __future__ import annotations

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
    for name, value in old.items():
        if name not in np.__dict__ and value is not None:
            setattr(np, name, value)
    if int(np.__version__.partition(".")[0]) >= 2:
        np.set_printoptions(legacy="1.25")  # type: ignore[arg-type]
