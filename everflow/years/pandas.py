"""What pandas dropped since 0.25."""

from __future__ import annotations

import importlib
from typing import Any

from everflow.years.shims import NOT_OURS, methods, modules, names, otherwise


def _of(module: str, name: str) -> Any:
    return lambda: getattr(importlib.import_module(module), name)


class Ix:
    """`.ix`: by label where the axis has labels of that kind, else by position."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def _locate(self, key: Any) -> tuple[Any, Any]:
        """What indexes the frame, and the key for it: numbers count rows where the labels are no numbers."""
        parts = key if isinstance(key, tuple) else (key,)
        axes = self.frame.axes[: len(parts)]
        positions = [self._is_position(part, axis) for part, axis in zip(parts, axes)]
        if all(positions):
            return self.frame.iloc, key
        if not any(positions):
            return self.frame.loc, key
        parts = tuple(axis[part] if position else part for part, axis, position in zip(parts, axes, positions))
        return self.frame.loc, parts

    @staticmethod
    def _is_position(part: Any, axis: Any) -> bool:
        import numpy as np

        if getattr(axis, "inferred_type", "") in ("integer", "floating", "mixed-integer", "boolean"):
            return False
        if isinstance(part, slice):
            ends = [end for end in (part.start, part.stop) if end is not None]
            return bool(ends) and all(isinstance(end, (int, np.integer)) for end in ends)
        values = np.asarray(part)
        return values.dtype.kind in "iu" and values.size > 0

    def __getitem__(self, key: Any) -> Any:
        indexer, key = self._locate(key)
        return indexer[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        indexer, key = self._locate(key)
        indexer[key] = value


def _append(self: Any, other: Any, ignore_index: bool = False, verify_integrity: bool = False, sort: bool = False) -> Any:
    import pandas as pd

    if isinstance(other, dict):
        other = pd.Series(other)
    if isinstance(other, pd.Series) and isinstance(self, pd.DataFrame):
        if other.name is None and not ignore_index:
            raise TypeError("Can only append a Series if ignore_index=True or if the Series has a name")
        row = other.to_frame().T.infer_objects()
        others = [row]
    else:
        others = list(other) if isinstance(other, (list, tuple)) else [other]
        if others and isinstance(others[0], dict):
            others = [pd.DataFrame(others)]
    return pd.concat([self, *others], ignore_index=ignore_index, verify_integrity=verify_integrity, sort=sort)


def _set_value(self: Any, index: Any, col: Any, value: Any, takeable: bool = False) -> Any:
    (self.iat if takeable else self.at)[index, col] = value
    return self


def _as_matrix(self: Any, columns: Any = None) -> Any:
    return (self if columns is None else self[columns]).to_numpy()


for _kind in ("DataFrame", "Series"):
    methods("pandas", _kind, "pandas 1.0", ix=property(Ix), as_matrix=_as_matrix)
    methods(
        "pandas",
        _kind,
        "pandas 2.0",
        append=_append,
        iteritems=lambda self: self.items(),
        mad=lambda self, axis=0: (self - self.mean(axis)).abs().mean(axis),
    )
methods(
    "pandas",
    "DataFrame",
    "pandas 1.0",
    set_value=_set_value,
    get_value=lambda self, index, col, takeable=False: (self.iat if takeable else self.at)[index, col],
)
methods("pandas", "Series", "pandas 1.0", get_value=lambda self, label, takeable=False: (self.iat if takeable else self.at)[label])
methods("pandas", "DataFrame", "pandas 3.0", applymap=lambda self, func, **others: self.map(func, **others))
methods("pandas", "Index", "pandas 1.0", get_values=lambda self: self.to_numpy())

names(
    "pandas",
    "pandas 2.0",
    np=lambda: importlib.import_module("numpy"),
    datetime=_of("datetime", "datetime"),
    Int64Index=_of("pandas", "Index"),
    Float64Index=_of("pandas", "Index"),
    UInt64Index=_of("pandas", "Index"),
)
names("pandas", "pandas 0.25", scatter_matrix=_of("pandas.plotting", "scatter_matrix"))
names("pandas.io.json", "pandas 2.0", json_normalize=_of("pandas", "json_normalize"))
modules(
    "pandas 0.25",
    {
        "pandas.tools.plotting": lambda: importlib.import_module("pandas.plotting"),
        "pandas.tools": lambda: importlib.import_module("pandas.plotting"),
    },
)


def _read(error: Any, real: Any, *args: Any, **others: Any) -> Any:
    """Arguments of read_csv that now have another name, or are a method of what comes back."""
    if not {"error_bad_lines", "warn_bad_lines", "squeeze", "mangle_dupe_cols", "prefix", "delim_whitespace"} & set(others):
        return NOT_OURS
    error_bad, warn_bad = others.pop("error_bad_lines", None), others.pop("warn_bad_lines", None)
    if error_bad is not None or warn_bad is not None:
        others["on_bad_lines"] = "error" if error_bad in (None, True) else "skip" if warn_bad is False else "warn"
    others.pop("mangle_dupe_cols", None)
    if others.pop("delim_whitespace", False):
        others["sep"] = r"\s+"
    squeeze, prefix = others.pop("squeeze", False), others.pop("prefix", None)
    frame = real(*args, **others)
    if prefix is not None and others.get("header", 0) is None:
        frame.columns = [f"{prefix}{name}" for name in frame.columns]
    return frame.squeeze("columns") if squeeze else frame


for _name in ("read_csv", "read_table"):
    otherwise("pandas", _name, "pandas 2.0", f"pd.{_name} with error_bad_lines=, squeeze= and other former arguments")(_read)


def _axis_by_position(error: Any, real: Any, self: Any, *args: Any, **others: Any) -> Any:
    """drop("column", 1): the axis was the second argument."""
    return real(self, args[0], axis=args[1], **others) if len(args) == 2 else NOT_OURS


otherwise("pandas", "DataFrame.drop", "pandas 2.0", "DataFrame.drop with a second argument")(_axis_by_position)


@otherwise("pandas", "Series.__getitem__", "pandas 3.0", "Series with labels that are no numbers, indexed by position", KeyError)
def _by_position(error: Any, real: Any, series: Any, key: Any) -> Any:
    return series.iloc[key] if Ix._is_position(key, series.index) else NOT_OURS
