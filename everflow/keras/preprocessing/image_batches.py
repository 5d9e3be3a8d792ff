"""Batches of pictures: from arrays, from a folder of classes, from a table of files."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterator as Iteration
from typing import Any

import numpy as np

from everflow.api import public
from everflow.keras import config
from everflow.keras.enqueuers import Sequence
from everflow.keras.preprocessing.image import array_to_img, img_to_array, layout, load_img

EXTENSIONS = ("png", "jpg", "jpeg", "bmp", "ppm", "tif", "tiff")
CHANNELS = {"rgb": 3, "rgba": 4, "grayscale": 1}


@public("keras.preprocessing.image.Iterator")
class Iterator(Sequence):
    """Batches without end of what `_get_batches_of_transformed_samples(indices)` makes of the indices of examples."""

    # Saved pictures get a random number below it, so that one of another epoch has another name.
    names = 10_000_000

    def __init__(self, n: int, batch_size: int, shuffle: bool, seed: int | None) -> None:
        self.n = n
        self.batch_size = batch_size
        self.seed = seed
        self.shuffle = shuffle
        self.batch_index = 0
        self.total_batches_seen = 0
        self.lock = threading.Lock()
        self.index_array: Any = None
        self.index_generator = self._flow_index()

    def _set_index_array(self) -> None:
        self.index_array = np.random.permutation(self.n) if self.shuffle else np.arange(self.n)

    def _begin_batch(self) -> None:
        """With a seed, a batch is the same however many were drawn elsewhere meanwhile."""
        if self.seed is not None:
            np.random.seed(self.seed + self.total_batches_seen)

    def __getitem__(self, idx: int) -> Any:
        if idx >= len(self):
            raise ValueError(f"Asked to retrieve element {idx}, but the Sequence has length {len(self)}")
        self._begin_batch()
        self.total_batches_seen += 1
        if self.index_array is None:
            self._set_index_array()
        return self._get_batches_of_transformed_samples(self.index_array[self.batch_size * idx : self.batch_size * (idx + 1)])

    def __len__(self) -> int:
        return -(-self.n // self.batch_size)

    def on_epoch_end(self) -> None:
        self._set_index_array()

    def reset(self) -> None:
        """Begins an epoch with the next batch."""
        self.batch_index = 0

    def _flow_index(self) -> Iteration[np.ndarray]:
        self.reset()
        while True:
            self._begin_batch()
            if self.batch_index == 0:
                self._set_index_array()
            first = self.batch_size * self.batch_index % self.n if self.n else 0
            self.batch_index = self.batch_index + 1 if first + self.batch_size < self.n else 0
            self.total_batches_seen += 1
            yield self.index_array[first : first + self.batch_size]

    def __iter__(self) -> Iterator:  # type: ignore[override]
        return self

    def __next__(self, *args: Any, **kwargs: Any) -> Any:
        return self.next(*args, **kwargs)

    def next(self) -> Any:
        """The next batch."""
        with self.lock:
            indices = next(self.index_generator)
        return self._get_batches_of_transformed_samples(indices)

    def _get_batches_of_transformed_samples(self, index_array: Any) -> Any:
        raise NotImplementedError

    def _save(self, batch: np.ndarray, index_array: Any) -> None:
        for picture, index in zip(batch, index_array, strict=True):
            name = f"{self.save_prefix}_{index}_{np.random.randint(self.names)}.{self.save_format}"  # type: ignore[attr-defined]
            array_to_img(picture, self.data_format, scale=True).save(os.path.join(self.save_to_dir, name))  # type: ignore[attr-defined]


@public("keras.preprocessing.image.NumpyArrayIterator")
class NumpyArrayIterator(Iterator):
    """Batches of pictures that are in an array, with what belongs to them."""

    names = 10_000

    def __init__(
        self,
        x: Any,
        y: Any,
        image_data_generator: Any,
        batch_size: int = 32,
        shuffle: bool = False,
        sample_weight: Any = None,
        seed: int | None = None,
        data_format: str | None = None,
        save_to_dir: str | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
        dtype: Any = None,
    ) -> None:
        self.dtype = dtype or config.floatx()
        data_format = layout(data_format)
        others: list[np.ndarray] = []
        if isinstance(x, (tuple, list)):
            others = [np.asarray(other) for other in (x[1] if isinstance(x[1], list) else [x[1]])]
            x = x[0]
            if any(len(other) != len(x) for other in others):
                raise ValueError("All of the arrays in `x` should have the same length. Found a pair with: " + _lengths(x, others))
        if y is not None and len(x) != len(y):
            raise ValueError(f"`x` (images tensor) and `y` (labels) should have the same length. Found: {_shapes(x=x, y=y)}")
        if sample_weight is not None and len(x) != len(sample_weight):
            found = _shapes(x=x, sample_weight=sample_weight)
            raise ValueError(f"`x` (images tensor) and `sample_weight` should have the same length. Found: {found}")
        if subset is not None:
            if subset not in ("training", "validation"):
                raise ValueError("Invalid subset name:", subset, '; expected "training" or "validation".')
            at = int(len(x) * image_data_generator._validation_split)
            if y is not None and not np.array_equal(np.unique(y[:at]), np.unique(y[at:])):
                raise ValueError(
                    "Training and validation subsets have different number of classes after the split. If your numpy arrays are "
                    "sorted by the label, you might want to shuffle them."
                )
            part = slice(at) if subset == "validation" else slice(at, None)
            x, others = x[part], [other[part] for other in others]
            y = None if y is None else y[part]
        self.x = np.asarray(x, dtype=self.dtype)
        self.x_misc = others
        if self.x.ndim != 4:
            raise ValueError("Input data in `NumpyArrayIterator` should have rank 4. You passed an array with shape", self.x.shape)
        axis = 3 if data_format == "channels_last" else 1
        if self.x.shape[axis] not in (1, 3, 4):
            warnings.warn(
                f'NumpyArrayIterator is set to use the data format convention "{data_format}" (channels on axis {axis}), i.e. expected '
                f"either 1, 3, or 4 channels on axis {axis}. However, it was passed an array with shape {self.x.shape} "
                f"({self.x.shape[axis]} channels).",
                stacklevel=2,
            )
        self.y = None if y is None else np.asarray(y)
        self.sample_weight = None if sample_weight is None else np.asarray(sample_weight)
        self.image_data_generator = image_data_generator
        self.data_format = data_format
        self.save_to_dir, self.save_prefix, self.save_format = save_to_dir, save_prefix, save_format
        super().__init__(self.x.shape[0], batch_size, shuffle, seed)

    def _get_batches_of_transformed_samples(self, index_array: Any) -> Any:
        batch = np.zeros((len(index_array), *self.x.shape[1:]), dtype=self.dtype)
        for i, index in enumerate(index_array):
            batch[i] = self.image_data_generator.standardize(self.image_data_generator.random_transform(self.x[index].astype(self.dtype)))
        if self.save_to_dir:
            self._save(batch, index_array)
        pictures = [batch, *(other[index_array] for other in self.x_misc)] if self.x_misc else batch
        if self.y is None:
            return pictures
        rest = (self.y[index_array],) if self.sample_weight is None else (self.y[index_array], self.sample_weight[index_array])
        return pictures, *rest


def _shapes(**arrays: Any) -> str:
    return ", ".join(f"{name}.shape = {np.shape(array)}" for name, array in arrays.items())


def _lengths(x: Any, others: list[np.ndarray]) -> str:
    return f"len(x[0]) = {len(x)}, len(x[?]) = {next(len(other) for other in others if len(other) != len(x))}"


class FileIterator(Iterator):
    """Batches of pictures that are in files; `filepaths`, `labels` and `sample_weight` say of each what it is."""

    filepaths: list[str]
    labels: Any
    sample_weight: Any = None
    class_mode: str | None
    class_indices: dict[Any, int]

    def set_processing_attrs(
        self,
        image_data_generator: Any,
        target_size: Any,
        color_mode: str,
        data_format: str | None,
        save_to_dir: str | None,
        save_prefix: str,
        save_format: str,
        subset: str | None,
        interpolation: str,
    ) -> None:
        """Takes how a file becomes an array."""
        self.image_data_generator = image_data_generator
        self.target_size = tuple(target_size)
        if color_mode not in CHANNELS:
            raise ValueError("Invalid color mode:", color_mode, '; expected "rgb", "rgba", or "grayscale".')
        self.color_mode = color_mode
        self.data_format = layout(data_format)
        channels = (CHANNELS[color_mode],)
        self.image_shape = self.target_size + channels if self.data_format == "channels_last" else channels + self.target_size
        self.save_to_dir, self.save_prefix, self.save_format = save_to_dir, save_prefix, save_format
        self.interpolation = interpolation
        self.split: tuple[float, float] | None = None
        if subset is not None:
            held = image_data_generator._validation_split
            if subset not in ("training", "validation"):
                raise ValueError(f'Invalid subset name: {subset};expected "training" or "validation"')
            self.split = (0, held) if subset == "validation" else (held, 1)
        self.subset = subset

    def _part(self, rows: Any) -> Any:
        """The rows of the chosen subset."""
        if self.split is None:
            return rows
        first, last = (int(part * len(rows)) for part in self.split)
        return rows[first:last]

    def _read(self, path: str) -> np.ndarray:
        with load_img(path, color_mode=self.color_mode, target_size=self.target_size, interpolation=self.interpolation) as picture:
            array = img_to_array(picture, data_format=self.data_format)
        if self.image_data_generator:
            array = self.image_data_generator.standardize(self.image_data_generator.random_transform(array))
        return array

    def _get_batches_of_transformed_samples(self, index_array: Any) -> Any:
        batch = np.zeros((len(index_array), *self.image_shape), dtype=self.dtype)  # type: ignore[attr-defined]
        for i, index in enumerate(index_array):
            batch[i] = self._read(self.filepaths[index])
        if self.save_to_dir:
            self._save(batch, index_array)
        if self.class_mode is None:
            return batch
        answers = self._answers(batch, index_array)
        return (batch, answers) if self.sample_weight is None else (batch, answers, self.sample_weight[index_array])

    def _answers(self, batch: np.ndarray, index_array: Any) -> Any:
        kind = batch.dtype
        if self.class_mode == "input":
            return batch.copy()
        if self.class_mode in ("binary", "sparse"):
            return np.array([self.classes[i] for i in index_array], kind)  # type: ignore[attr-defined]
        if self.class_mode == "categorical":
            found = np.zeros((len(batch), len(self.class_indices)), kind)
            for row, index in zip(found, index_array, strict=True):
                row[self.classes[index]] = 1  # type: ignore[attr-defined]
            return found
        if self.class_mode == "multi_output":
            return [column[index_array] for column in self.labels]
        return self.labels[index_array]


@public("keras.preprocessing.image.DirectoryIterator")
class DirectoryIterator(FileIterator):
    """Batches of the pictures in a folder that has a folder for each class."""

    MODES = ("categorical", "binary", "sparse", "input", None)

    def __init__(
        self,
        directory: Any,
        image_data_generator: Any,
        target_size: Any = (256, 256),
        color_mode: str = "rgb",
        classes: Any = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        data_format: str | None = None,
        save_to_dir: str | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        follow_links: bool = False,
        subset: str | None = None,
        interpolation: str = "nearest",
        dtype: Any = None,
    ) -> None:
        self.set_processing_attrs(
            image_data_generator, target_size, color_mode, data_format, save_to_dir, save_prefix, save_format, subset, interpolation
        )
        if class_mode not in self.MODES:
            raise ValueError(f"Invalid class_mode: {class_mode}; expected one of: {set(self.MODES)}")
        self.directory, self.class_mode, self.dtype = directory, class_mode, dtype or config.floatx()
        if not classes:
            classes = sorted(entry for entry in os.listdir(directory) if os.path.isdir(os.path.join(directory, entry)))
        self.num_classes = len(classes)
        self.class_indices = {name: number for number, name in enumerate(classes)}
        self.filenames: list[str] = []
        numbers: list[int] = []
        for name in classes:
            found = self._part([*_pictures(os.path.join(directory, name), follow_links)])
            self.filenames += [os.path.relpath(path, directory) for path in found]
            numbers += [self.class_indices[name]] * len(found)
        self.classes = np.array(numbers, np.int32)
        self.samples = len(self.filenames)
        print(f"Found {self.samples} images belonging to {self.num_classes} classes.")
        self._filepaths = [os.path.join(directory, name) for name in self.filenames]
        super().__init__(self.samples, batch_size, shuffle, seed)

    @property
    def filepaths(self) -> list[str]:  # type: ignore[override]
        return self._filepaths

    @property
    def labels(self) -> np.ndarray:  # type: ignore[override]
        return self.classes

    @property
    def sample_weight(self) -> None:  # type: ignore[override]
        return None


def _pictures(folder: str, follow_links: bool) -> Iteration[str]:
    for place, _, names in sorted(os.walk(folder, followlinks=follow_links)):
        for name in sorted(names):
            if name.lower().endswith(tuple(f".{extension}" for extension in EXTENSIONS)):
                yield os.path.join(place, name)


class DataFrameIterator(FileIterator):
    """Batches of the pictures that a table names, with what it says of them."""

    MODES = ("binary", "categorical", "input", "multi_output", "raw", "sparse", None)

    def __init__(
        self,
        dataframe: Any,
        directory: Any = None,
        image_data_generator: Any = None,
        x_col: str = "filename",
        y_col: Any = "class",
        weight_col: str | None = None,
        target_size: Any = (256, 256),
        color_mode: str = "rgb",
        classes: Any = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        data_format: str | None = "channels_last",
        save_to_dir: str | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
        interpolation: str = "nearest",
        dtype: Any = "float32",
        validate_filenames: bool = True,
    ) -> None:
        self.set_processing_attrs(
            image_data_generator, target_size, color_mode, data_format, save_to_dir, save_prefix, save_format, subset, interpolation
        )
        self.directory, self.class_mode, self.dtype = directory or "", class_mode, dtype
        table = dataframe.copy()
        self._check(table, x_col, y_col, weight_col, classes)
        if validate_filenames:
            table = self._with_files(table, x_col)
        if class_mode in ("categorical", "binary", "sparse"):
            table, classes = self._with_classes(table, y_col, classes)
        table = self._part(table)
        self.filenames = table[x_col].tolist()
        self.samples = len(self.filenames)
        if class_mode in ("categorical", "binary", "sparse"):
            self.class_indices = {name: number for number, name in enumerate(classes)}
            self.classes = [
                [self.class_indices[one] for one in entry] if isinstance(entry, (list, tuple)) else self.class_indices[entry]
                for entry in table[y_col]
            ]
            self._labels: Any = self.classes
        elif class_mode == "multi_output":
            self._labels = [np.array(table[column].tolist()) for column in y_col]
        elif class_mode == "raw":
            self._labels = table[y_col].values
        self._sample_weight = table[weight_col].values if weight_col else None
        count = f"{self.samples} {'validated' if validate_filenames else 'non-validated'} image filenames"
        print(f"Found {count} belonging to {len(self.class_indices)} classes." if hasattr(self, "classes") else f"Found {count}.")
        self._filepaths = [os.path.join(self.directory, name) for name in self.filenames]
        super().__init__(self.samples, batch_size, shuffle, seed)

    def _check(self, table: Any, x_col: str, y_col: Any, weight_col: str | None, classes: Any) -> None:
        if self.class_mode not in self.MODES:
            raise ValueError(f"Invalid class_mode: {self.class_mode}; expected one of: {set(self.MODES)}")
        if self.class_mode == "multi_output" and not isinstance(y_col, list):
            raise TypeError(f'If class_mode="{self.class_mode}", y_col must be a list. Received {type(y_col).__name__}.')
        if not all(isinstance(name, str) for name in table[x_col]):
            raise TypeError(f"All values in column x_col={x_col} must be strings.")
        if self.class_mode in ("binary", "sparse") and not all(isinstance(name, str) for name in table[y_col]):
            raise TypeError(f'If class_mode="{self.class_mode}", y_col="{y_col}" column values must be strings.')
        if self.class_mode == "binary" and len(found := set(classes or table[y_col])) != 2:
            raise ValueError(
                f'If class_mode="binary" there must be 2 classes. {len(found)} class/es were given.'
                if classes
                else f'If class_mode="binary" there must be 2 classes. Found {len(found)} classes.'
            )
        if self.class_mode == "categorical" and not all(isinstance(name, (str, list, tuple)) for name in table[y_col]):
            raise TypeError(f'If class_mode="{self.class_mode}", y_col="{y_col}" column values must be type string, list or tuple.')
        if classes and self.class_mode in ("input", "multi_output", "raw", None):
            warnings.warn(f'`classes` will be ignored given the class_mode="{self.class_mode}"', stacklevel=3)
        if weight_col and table[weight_col].dtype.kind not in "biufc":
            raise TypeError(f"Column weight_col={weight_col} must be numeric.")

    def _with_files(self, table: Any, x_col: str) -> Any:
        """The rows whose file is there."""
        paths = [os.path.join(self.directory, name) for name in table[x_col]]
        there = np.array([path.lower().endswith(EXTENSIONS) and os.path.isfile(path) for path in paths], bool)
        if not there.all():
            warnings.warn(
                f'Found {(~there).sum()} invalid image filename(s) in x_col="{x_col}". These filename(s) will be ignored.', stacklevel=3
            )
        return table[there]

    def _with_classes(self, table: Any, y_col: str, classes: Any) -> tuple[Any, list[Any]]:
        """The rows that have a class among those wanted, and these in order."""
        several = lambda entry: list(entry) if isinstance(entry, (list, tuple)) else [entry]
        if not classes:
            return table, sorted({one for entry in table[y_col] for one in several(entry)})
        classes = sorted(set(classes))
        kept = table[y_col].map(lambda entry: [one for one in several(entry) if one in classes])
        whole = table[y_col].map(lambda entry: isinstance(entry, str))
        table = table.assign(**{y_col: kept.where(~whole, table[y_col])})
        return table[kept.map(len) > 0], classes

    @property
    def filepaths(self) -> list[str]:  # type: ignore[override]
        return self._filepaths

    @property
    def labels(self) -> Any:  # type: ignore[override]
        return self._labels

    @property
    def sample_weight(self) -> Any:  # type: ignore[override]
        return self._sample_weight
