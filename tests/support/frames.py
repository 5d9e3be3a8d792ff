"""Data frames of pandas, or what stands for them where it is not installed: columns by name, with an index."""

import numpy as np

try:
    from pandas import DataFrame, Series
except ImportError:

    class Index(np.ndarray):
        """What says of rows which they are."""

        @property
        def values(self):
            return np.asarray(self)

    def _index(given, size):
        return np.asarray(range(size) if given is None else given).view(Index)

    class Series:
        """A column."""

        def __init__(self, data, index=None):
            if isinstance(data, np.ndarray):
                values = data
            else:
                data = list(data)
                plain = not any(isinstance(v, (str, list, tuple)) for v in data)
                values = np.array(data) if plain else np.empty(len(data), object)
                values[:] = data
            self.values = values.astype(object) if values.dtype.kind == "U" else values
            self.index = _index(index, len(values))

        dtype = property(lambda self: self.values.dtype)
        tolist = lambda self: self.values.tolist()
        __iter__ = lambda self: iter(self.values.tolist())
        __len__ = lambda self: len(self.values)
        __invert__ = lambda self: Series(~self.values, self.index)
        __gt__ = lambda self, other: Series(self.values > other, self.index)

        def __getitem__(self, rows):
            return Series(self.values[rows], self.index[rows])

        def map(self, function):
            return Series([function(v) for v in self], self.index)

        def where(self, condition, other):
            return Series([a if c else b for a, c, b in zip(self, condition, other)], self.index)

    class DataFrame:
        """Columns of the same length."""

        def __init__(self, data, index=None):
            self._found = {name: Series(getattr(values, "values", values), index) for name, values in data.items()}
            self.index = next(iter(self._found.values())).index

        @property
        def columns(self):
            return list(self._found)

        @property
        def values(self):
            return np.stack([column.values for column in self._found.values()], axis=1)

        def __contains__(self, name):
            return name in self._found

        def __len__(self):
            return len(self.index)

        def __getitem__(self, name):
            if isinstance(name, str):
                return self._found[name]
            if isinstance(name, list):
                return DataFrame({one: self._found[one] for one in name}, self.index)
            rows = getattr(name, "values", name)
            rows = np.asarray(rows, bool) if not isinstance(rows, slice) else rows
            return DataFrame({one: column.values[rows] for one, column in self._found.items()}, self.index[rows])

        def __setitem__(self, names, value):
            if isinstance(names, list):
                self._found.update(zip(names, (value[name] for name in value.columns)))
            else:
                self._found[names] = value

        def assign(self, **columns):
            return DataFrame({**self._found, **columns}, self.index)

        def copy(self):
            return DataFrame({name: column.values for name, column in self._found.items()}, self.index)


__all__ = ["DataFrame", "Series"]
