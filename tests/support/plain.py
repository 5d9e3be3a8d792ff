"""Values as plain Python, as a test can write them down."""

import numpy as np

from running import run


def plain(value, digits=5):
    """What a session (or a call) gives as lists, tuples, dictionaries, numbers and strings; floats with some digits."""
    if hasattr(value, "to_list"):
        return plain(value.to_list(), digits)
    if hasattr(value, "dense_shape"):
        return {name: plain(getattr(value, name), digits) for name in ("indices", "values", "dense_shape")}
    if hasattr(value, "as_list"):
        return value.as_list() if value.ndims is not None else None
    if hasattr(value, "as_numpy_dtype"):
        return value.name
    if isinstance(value, dict):
        return {key: plain(v, digits) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v, digits) for v in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist(), digits)
    if isinstance(value, float):
        return float(f"%.{digits}g" % value)
    return value


def computed(made, feeds=None, digits=5):
    """The plain value of tensors, of structures of them, or of what is a value already."""
    return plain(run(made, feeds), digits) if _has_tensors(made) else plain(made, digits)


def _has_tensors(made):
    if isinstance(made, dict):
        made = tuple(made.values())
    if isinstance(made, (list, tuple)):
        return any(map(_has_tensors, made))
    return hasattr(made, "graph") or hasattr(made, "_type_spec")


def described(made):
    """Tensors as what is known of them before a run (the dtype, the shape, and the type of splits that have 32 bits) and their values."""
    if not _has_tensors(made) or hasattr(made, "dense_shape"):
        return computed(made)
    return [_known(made), computed(made)]


def _known(made):
    if isinstance(made, (list, tuple)):
        return [_known(m) for m in made]
    splits = getattr(getattr(made, "row_splits", None), "dtype", "int64")
    return f"{made.dtype.name} {plain(made.shape)}" + (f" by {splits.name}" if splits != "int64" else "")


def refused(made):
    """The type and the first words of the error that a call raises."""
    try:
        given = made()
    except Exception as error:
        return ": ".join([type(error).__name__, *str(error).splitlines()[:1]])[:110]
    return f"no error, but {given}"
