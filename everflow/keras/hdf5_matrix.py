"""Data in HDF5 files, read batch by batch."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from everflow.api import public


@public("keras.utils.HDF5Matrix")
class HDF5Matrix:
    """Some rows of a dataset in an HDF5 file, in the place of an array: `HDF5Matrix("x.h5", "data", start=100)`."""

    # Files stay open, one for each path.
    refs: ClassVar[dict[Any, Any]] = {}

    def __init__(self, datapath: Any, dataset: str, start: int = 0, end: Any = None, normalizer: Any = None) -> None:
        import h5py

        if datapath not in self.refs:
            self.refs[datapath] = h5py.File(datapath, "r")
        self.data = self.refs[datapath][dataset]
        self.start = start
        self.end = self.data.shape[0] if end is None else end
        self.normalizer = normalizer
        first = self.data[0:1]
        self._base_shape = self._normalized(first).shape[1:]
        self._base_dtype = self._normalized(first).dtype

    def _normalized(self, values: Any) -> Any:
        return values if self.normalizer is None else self.normalizer(values)

    def __len__(self) -> int:
        return self.end - self.start

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            start, stop = key.start or 0, self.shape[0] if key.stop is None else key.stop
            if stop + self.start > self.end:
                raise IndexError
            places: Any = slice(start + self.start, stop + self.start)
        elif isinstance(key, (int, np.integer)):
            if key + self.start >= self.end:
                raise IndexError
            places = key + self.start
        else:
            key = key.tolist() if isinstance(key, np.ndarray) else list(key)
            if max(key) + self.start >= self.end:
                raise IndexError
            places = [x + self.start for x in key]
        return self._normalized(self.data[places])

    @property
    def shape(self) -> tuple[int, ...]:
        """As numpy's."""
        return (self.end - self.start, *self._base_shape)

    @property
    def dtype(self) -> Any:
        """As numpy's."""
        return self._base_dtype

    @property
    def ndim(self) -> int:
        """As numpy's."""
        return self.data.ndim

    @property
    def size(self) -> int:
        """As numpy's."""
        return int(np.prod(self.shape))
