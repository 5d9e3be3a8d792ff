"""ImageDataGenerator: pictures in batches, each changed at random and brought to scale."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from everflow.api import public
from everflow.keras import config
from everflow.keras.preprocessing.image import apply_affine_transform, apply_brightness_shift, apply_channel_shift
from everflow.keras.preprocessing.image_batches import DataFrameIterator, DirectoryIterator, NumpyArrayIterator

# So that what does not vary is not divided by zero.
EPSILON = 1e-6


@public("keras.preprocessing.image.ImageDataGenerator")
class ImageDataGenerator:
    """Says how pictures are changed at random and brought to scale; `flow` and its kin give batches of them."""

    def __init__(
        self,
        featurewise_center: bool = False,
        samplewise_center: bool = False,
        featurewise_std_normalization: bool = False,
        samplewise_std_normalization: bool = False,
        zca_whitening: bool = False,
        zca_epsilon: float = 1e-6,
        rotation_range: float = 0,
        width_shift_range: Any = 0.0,
        height_shift_range: Any = 0.0,
        brightness_range: Any = None,
        shear_range: float = 0.0,
        zoom_range: Any = 0.0,
        channel_shift_range: float = 0.0,
        fill_mode: str = "nearest",
        cval: float = 0.0,
        horizontal_flip: bool = False,
        vertical_flip: bool = False,
        rescale: float | None = None,
        preprocessing_function: Any = None,
        data_format: str | None = None,
        validation_split: float = 0.0,
        dtype: Any = None,
    ) -> None:
        self.samplewise_center = samplewise_center
        self.samplewise_std_normalization = samplewise_std_normalization
        self.zca_epsilon = zca_epsilon
        self.rotation_range = rotation_range
        self.width_shift_range = width_shift_range
        self.height_shift_range = height_shift_range
        self.shear_range = shear_range
        self.channel_shift_range = channel_shift_range
        self.fill_mode = fill_mode
        self.cval = cval
        self.horizontal_flip = horizontal_flip
        self.vertical_flip = vertical_flip
        self.rescale = rescale
        self.preprocessing_function = preprocessing_function
        self.dtype = dtype or config.floatx()
        self.interpolation_order = 1
        self.data_format = config.image_data_format() if data_format is None else data_format
        if self.data_format not in ("channels_first", "channels_last"):
            raise ValueError(
                '`data_format` should be `"channels_last"` (channel after row and column) or `"channels_first"` '
                f"(channel before row and column). Received: {data_format}"
            )
        first = self.data_format == "channels_first"
        self.channel_axis, self.row_axis, self.col_axis = (1, 2, 3) if first else (3, 1, 2)
        if validation_split and not 0 < validation_split < 1:
            raise ValueError(f"`validation_split` must be strictly between 0 and 1.  Received: {validation_split}")
        self._validation_split = validation_split
        self.mean: Any = None
        self.std: Any = None
        self.principal_components: Any = None
        self.zoom_range: list[Any]
        if isinstance(zoom_range, (int, float, np.number)):
            self.zoom_range = [1 - zoom_range, 1 + zoom_range]
        elif len(zoom_range) == 2:
            self.zoom_range = [zoom_range[0], zoom_range[1]]
        else:
            raise ValueError(f"`zoom_range` should be a float or a tuple or list of two floats. Received: {zoom_range}")
        if zca_whitening and not featurewise_center:
            featurewise_center = True
            _say("zca_whitening", "featurewise_center")
        if zca_whitening and featurewise_std_normalization:
            featurewise_std_normalization = False
            warnings.warn(
                "This ImageDataGenerator specifies `zca_whitening` which overrides setting of`featurewise_std_normalization`.", stacklevel=2
            )
        if featurewise_std_normalization and not featurewise_center:
            featurewise_center = True
            _say("featurewise_std_normalization", "featurewise_center")
        if samplewise_std_normalization and not samplewise_center:
            self.samplewise_center = True
            _say("samplewise_std_normalization", "samplewise_center")
        self.zca_whitening = zca_whitening
        self.featurewise_center = featurewise_center
        self.featurewise_std_normalization = featurewise_std_normalization
        if brightness_range is not None and (not isinstance(brightness_range, (tuple, list)) or len(brightness_range) != 2):
            raise ValueError(f"`brightness_range should be tuple or list of two floats. Received: {brightness_range}")
        self.brightness_range = brightness_range

    def flow(
        self,
        x: Any,
        y: Any = None,
        batch_size: int = 32,
        shuffle: bool = True,
        sample_weight: Any = None,
        seed: int | None = None,
        save_to_dir: str | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
    ) -> NumpyArrayIterator:
        """Batches of the pictures of an array."""
        return NumpyArrayIterator(
            x,
            y,
            self,
            batch_size=batch_size,
            shuffle=shuffle,
            sample_weight=sample_weight,
            seed=seed,
            data_format=self.data_format,
            save_to_dir=save_to_dir,
            save_prefix=save_prefix,
            save_format=save_format,
            subset=subset,
            dtype=self.dtype,
        )

    def flow_from_directory(
        self,
        directory: Any,
        target_size: Any = (256, 256),
        color_mode: str = "rgb",
        classes: Any = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        save_to_dir: str | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        follow_links: bool = False,
        subset: str | None = None,
        interpolation: str = "nearest",
    ) -> DirectoryIterator:
        """Batches of the pictures in a folder that has a folder for each class."""
        return DirectoryIterator(
            directory,
            self,
            target_size=target_size,
            color_mode=color_mode,
            classes=classes,
            class_mode=class_mode,
            batch_size=batch_size,
            shuffle=shuffle,
            seed=seed,
            data_format=self.data_format,
            save_to_dir=save_to_dir,
            save_prefix=save_prefix,
            save_format=save_format,
            follow_links=follow_links,
            subset=subset,
            interpolation=interpolation,
            dtype=self.dtype,
        )

    def flow_from_dataframe(
        self,
        dataframe: Any,
        directory: Any = None,
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
        save_to_dir: str | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
        interpolation: str = "nearest",
        validate_filenames: bool = True,
        **kwargs: Any,
    ) -> DataFrameIterator:
        """Batches of the pictures that a table of pandas' names."""
        for former in ("has_ext", "sort", "drop_duplicates"):
            if former in kwargs:
                warnings.warn(f"{former} is deprecated and has no effect.", DeprecationWarning, stacklevel=2)
        if kwargs.get("class_mode") == "other" or class_mode == "other":
            warnings.warn('`class_mode` "other" is deprecated, please use `class_mode` "raw".', DeprecationWarning, stacklevel=2)
            class_mode = "raw"
        return DataFrameIterator(
            dataframe,
            directory,
            self,
            x_col=x_col,
            y_col=y_col,
            weight_col=weight_col,
            target_size=target_size,
            color_mode=color_mode,
            classes=classes,
            class_mode=class_mode,
            batch_size=batch_size,
            shuffle=shuffle,
            seed=seed,
            data_format=self.data_format,
            save_to_dir=save_to_dir,
            save_prefix=save_prefix,
            save_format=save_format,
            subset=subset,
            interpolation=interpolation,
            dtype=self.dtype,
            validate_filenames=validate_filenames,
        )

    def standardize(self, x: Any) -> Any:
        """Brings a picture to scale, in place where it can."""
        if self.preprocessing_function:
            x = self.preprocessing_function(x)
        if self.rescale:
            x *= self.rescale
        if self.samplewise_center:
            x -= np.mean(x, keepdims=True)
        if self.samplewise_std_normalization:
            x /= np.std(x, keepdims=True) + EPSILON
        if self.featurewise_center and self._fitted("featurewise_center", self.mean):
            x -= self.mean
        if self.featurewise_std_normalization and self._fitted("featurewise_std_normalization", self.std):
            x /= self.std + EPSILON
        if self.zca_whitening and self._fitted("zca_whitening", self.principal_components):
            x = np.reshape(np.reshape(x, -1) @ self.principal_components, x.shape)
        return x

    def _fitted(self, setting: str, found: Any) -> bool:
        if found is None:
            warnings.warn(
                f"This ImageDataGenerator specifies `{setting}`, but it hasn't been fit on any training data. "
                "Fit it first by calling `.fit(numpy_data)`.",
                stacklevel=3,
            )
        return found is not None

    def get_random_transform(self, img_shape: Any, seed: int | None = None) -> dict[str, Any]:
        """Draws how a picture of this shape is to be changed."""
        if seed is not None:
            np.random.seed(seed)
        uniform = np.random.uniform
        rows, columns = img_shape[self.row_axis - 1], img_shape[self.col_axis - 1]
        zoomed = self.zoom_range[0] != 1 or self.zoom_range[1] != 1
        # In this order, as in Keras: with a seed the same numbers are drawn for the same thing.
        theta = uniform(-self.rotation_range, self.rotation_range) if self.rotation_range else 0
        tx = _shift(self.height_shift_range, rows)
        ty = _shift(self.width_shift_range, columns)
        shear = uniform(-self.shear_range, self.shear_range) if self.shear_range else 0
        zx, zy = uniform(self.zoom_range[0], self.zoom_range[1], 2) if zoomed else (1, 1)
        flips = [(np.random.random() < 0.5) * flip for flip in (self.horizontal_flip, self.vertical_flip)]
        shift = uniform(-self.channel_shift_range, self.channel_shift_range) if self.channel_shift_range else None
        brightness = uniform(*self.brightness_range) if self.brightness_range is not None else None
        return {
            "theta": theta,
            "tx": tx,
            "ty": ty,
            "shear": shear,
            "zx": zx,
            "zy": zy,
            "flip_horizontal": flips[0],
            "flip_vertical": flips[1],
            "channel_shift_intensity": shift,
            "brightness": brightness,
        }

    def apply_transform(self, x: np.ndarray, transform_parameters: dict[str, Any]) -> np.ndarray:
        """Changes a picture as `get_random_transform` says it."""
        row_axis, col_axis, channel_axis = self.row_axis - 1, self.col_axis - 1, self.channel_axis - 1
        given = transform_parameters.get
        x = apply_affine_transform(
            x,
            given("theta", 0),
            given("tx", 0),
            given("ty", 0),
            given("shear", 0),
            given("zx", 1),
            given("zy", 1),
            row_axis=row_axis,
            col_axis=col_axis,
            channel_axis=channel_axis,
            fill_mode=self.fill_mode,
            cval=self.cval,
            order=self.interpolation_order,
        )
        if given("channel_shift_intensity") is not None:
            x = apply_channel_shift(x, transform_parameters["channel_shift_intensity"], channel_axis)
        if given("flip_horizontal", False):
            x = np.flip(x, col_axis)
        if given("flip_vertical", False):
            x = np.flip(x, row_axis)
        if given("brightness") is not None:
            x = apply_brightness_shift(x, transform_parameters["brightness"])
        return x

    def random_transform(self, x: np.ndarray, seed: int | None = None) -> np.ndarray:
        """Changes a picture at random."""
        return self.apply_transform(x, self.get_random_transform(x.shape, seed))

    def fit(self, x: Any, augment: bool = False, rounds: int = 1, seed: int | None = None) -> None:
        """Takes mean, deviation and principal components of pictures, for what is done featurewise."""
        x = np.asarray(x, dtype=self.dtype)
        if x.ndim != 4:
            raise ValueError(f"Input to `.fit()` should have rank 4. Got array with shape: {x.shape}")
        channels = x.shape[self.channel_axis]
        if channels not in (1, 3, 4):
            warnings.warn(
                f'Expected input to be images (as Numpy array) following the data format convention "{self.data_format}" (channels on '
                f"axis {self.channel_axis}), i.e. expected either 1, 3 or 4 channels on axis {self.channel_axis}. However, it was passed "
                f"an array with shape {x.shape} ({channels} channels).",
                stacklevel=2,
            )
        if seed is not None:
            np.random.seed(seed)
        x = np.copy(x)
        if augment:
            x = np.concatenate([np.stack([self.random_transform(picture) for picture in x]) for _ in range(rounds)]).astype(self.dtype)
        of_channels = [1, 1, 1]
        of_channels[self.channel_axis - 1] = channels
        if self.featurewise_center:
            self.mean = np.mean(x, axis=(0, self.row_axis, self.col_axis)).reshape(of_channels)
            x -= self.mean
        if self.featurewise_std_normalization:
            self.std = np.std(x, axis=(0, self.row_axis, self.col_axis)).reshape(of_channels)
            x /= self.std + EPSILON
        if self.zca_whitening:
            flat = x.reshape(len(x), -1)
            directions, strengths, _ = np.linalg.svd(flat.T @ flat / len(flat))
            self.principal_components = (directions / np.sqrt(strengths + self.zca_epsilon)) @ directions.T


def _shift(limits: Any, size: int) -> Any:
    """A number of pixels: one of a list, of whole numbers below a whole number, or a part of the size."""
    if np.ndim(limits) == 0 and not limits:
        return 0
    if isinstance(limits, (float, np.floating)):
        shift = np.random.uniform(-limits, limits)
    else:
        shift = np.random.choice(limits) * np.random.choice([-1, 1])
    return shift * size if np.max(limits) < 1 else shift


def _say(setting: str, other: str) -> None:
    warnings.warn(f"This ImageDataGenerator specifies `{setting}`, which overrides setting of `{other}`.", stacklevel=3)
