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
            values = np.asarray(data)
            self.values = values.astype(object) if values.dtype.kind == "U" else values
            self.index = _index(index, len(values))

    class DataFrame:
        """Columns of the same length."""

        def __init__(self, data, index=None):
            self._found = {name: Series(values, index) for name, values in data.items()}
            self.index = next(iter(self._found.values())).index

        @property
        def columns(self):
            return list(self._found)

        def __contains__(self, name):
            return name in self._found

        def __getitem__(self, name):
            return self._found[name]

        def __setitem__(self, names, value):
            if isinstance(names, list):
                self._found.update(zip(names, (value[name] for name in value.columns)))
            else:
                self._found[names] = value

        def copy(self):
            return DataFrame({name: column.values for name, column in self._found.items()}, self.index)


__all__ = ["DataFrame", "Series"]
