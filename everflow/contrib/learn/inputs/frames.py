"""Data frames of pandas and dask as what estimators take: arrays, and partitions with a running index."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from everflow.api import public
from everflow.contrib.learn.publishing import learn
from everflow.estimator.inputs.arrays import pandas_input_fn as _new_pandas_input_fn

_PANDAS, _DASK = "learn_io.pandas_io", "learn_io.dask_io"


def _has(name: str, part: str) -> bool:
    if importlib.util.find_spec(name) is None:
        return False
    try:
        importlib.import_module(part)
    except (ImportError, OSError):
        return False
    return True


HAS_PANDAS = learn(_PANDAS, "HAS_PANDAS")(_has("pandas", "pandas"))
HAS_DASK = learn(_DASK, "HAS_DASK")(_has("dask", "dask.dataframe"))
public("contrib.learn.python.learn.learn_io.HAS_PANDAS")(HAS_PANDAS)
public("contrib.learn.python.learn.learn_io.HAS_DASK")(HAS_DASK)
# The types that a model can take, and the kind of each.
PANDAS_DTYPES = learn(_PANDAS, "PANDAS_DTYPES")(
    {
        **{f"{sign}int{bits}": "int" for sign in ("", "u") for bits in (8, 16, 32, 64)},
        **{f"float{bits}": "float" for bits in (16, 32, 64)},
        "bool": "i",
    }
)


@learn(_PANDAS, "pandas_input_fn")
def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: Any = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Any:
    """An input function that gives batches of rows of a data frame."""
    return _new_pandas_input_fn(x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads, target_column)


def _is_frame(data: Any) -> bool:
    if not HAS_PANDAS:
        return False
    import pandas

    return isinstance(data, pandas.DataFrame)


def _check_types(data: Any, what: str, quote: str) -> None:
    bad = [column for column in data if data[column].dtype.name not in PANDAS_DTYPES]
    if bad:
        found = ", ".join(f"'{column}' type={quote}{data[column].dtype.name}{quote}" for column in bad)
        raise ValueError(f"Data types for extracting {what} must be int, float, or bool. Found: {found}")


@learn(_PANDAS, "extract_pandas_data", shown=True)
def extract_pandas_data(data: Any) -> Any:
    """The numbers of a data frame as floats; what is none stays."""
    if not _is_frame(data):
        return data
    _check_types(data, "pandas data", "'")
    return data.values.astype("float")


@learn(_PANDAS, "extract_pandas_matrix", shown=True)
def extract_pandas_matrix(data: Any) -> Any:
    """The values of a data frame; what is none stays."""
    return data.values if _is_frame(data) else data


@learn(_PANDAS, "extract_pandas_labels", shown=True)
def extract_pandas_labels(labels: Any) -> Any:
    """The values of a data frame with one column; what is none stays."""
    if not _is_frame(labels):
        return labels
    if len(labels.columns) > 1:
        raise ValueError("Only one column for labels is allowed.")
    _check_types(labels, "labels", "")
    return labels.values


def is_dask(data: Any) -> bool:
    """Whether data is a frame or a series of dask."""
    if not HAS_DASK:
        return False
    import dask.dataframe

    return isinstance(data, (dask.dataframe.Series, dask.dataframe.DataFrame))


def _indexed(part: Any, start: int) -> Any:
    part = part.copy()
    part.index = range(start, start + len(part))
    return part


def _with_divisions(data: Any) -> Any:
    """The same partitions with an index that runs through all of them, so that dask knows where each begins."""
    import dask
    import dask.dataframe

    starts = [0]
    for length in data.map_partitions(len).compute():
        starts.append(starts[-1] + int(length))
    parts = [dask.delayed(_indexed)(part, start) for part, start in zip(data.to_delayed(), starts)]
    return dask.dataframe.from_delayed(parts, meta=_indexed(data._meta, 0), divisions=tuple(starts), verify_meta=False)


@learn(_DASK, "extract_dask_data", shown=True)
def extract_dask_data(data: Any) -> Any:
    """A frame or series of dask with known divisions; what is none stays."""
    return _with_divisions(data) if is_dask(data) else data


@learn(_DASK, "extract_dask_labels", shown=True)
def extract_dask_labels(labels: Any) -> Any:
    """A series, or a frame with one column, with known divisions; what is none stays."""
    if not is_dask(labels):
        return labels
    if hasattr(labels, "columns") and len(labels.columns) > 1:
        raise ValueError("Only one column for labels is allowed.")
    return _with_divisions(labels)
