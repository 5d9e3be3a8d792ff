"""Pictures: files and arrays, and the ways in which a picture is turned, moved, sheared, zoomed and lit."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from everflow.api import public
from everflow.keras import config

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

# Pillow's name of the way to resize, by Keras'.
RESAMPLING = {method: method.upper() for method in ("nearest", "bilinear", "bicubic", "hamming", "box", "lanczos")}
# The modes that a picture may stay in, by color mode: the last is what others are converted to.
MODES = {"grayscale": ("I;16", "I", "L"), "rgba": ("RGBA",), "rgb": ("RGB",)}


def layout(data_format: str | None) -> str:
    """The order of axes: what was asked for, or what Keras is set to."""
    chosen = config.image_data_format() if data_format is None else data_format
    if chosen not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format: {chosen}")
    return chosen


@public("keras.preprocessing.image.load_img")
def load_img(
    path: Any, grayscale: bool = False, color_mode: str = "rgb", target_size: Any = None, interpolation: str = "nearest"
) -> Picture:
    """The picture in a file, as Pillow has it."""
    import PIL.Image

    if grayscale:
        warnings.warn('grayscale is deprecated. Please use color_mode = "grayscale"', stacklevel=2)
        color_mode = "grayscale"
    if color_mode not in MODES:
        raise ValueError('color_mode must be "grayscale", "rgb", or "rgba"')
    picture: Picture = PIL.Image.open(path)
    if picture.mode not in MODES[color_mode]:
        picture = picture.convert(MODES[color_mode][-1])
    if target_size is None or picture.size == tuple(target_size[::-1]):
        return picture
    if interpolation not in RESAMPLING:
        raise ValueError(f"Invalid interpolation method {interpolation} specified. Supported methods are {', '.join(RESAMPLING)}")
    return picture.resize(tuple(target_size[::-1]), PIL.Image.Resampling[RESAMPLING[interpolation]])


@public("keras.preprocessing.image.img_to_array")
def img_to_array(img: Any, data_format: str | None = None, dtype: Any = None) -> np.ndarray:
    """A picture as numbers, with an axis of channels."""
    data_format = layout(data_format)
    array = np.asarray(img, dtype or config.floatx())
    if array.ndim not in (2, 3):
        raise ValueError(f"Unsupported image shape: {array.shape}")
    array = array.reshape(*array.shape[:2], -1) if array.ndim == 2 else array
    return array.transpose(2, 0, 1) if data_format == "channels_first" else array


@public("keras.preprocessing.image.array_to_img")
def array_to_img(x: Any, data_format: str | None = None, scale: bool = True, dtype: Any = None) -> Picture:
    """Numbers as a picture; `scale` stretches them to 0 ... 255."""
    import PIL.Image

    x = np.array(x, dtype or config.floatx())
    if x.ndim != 3:
        raise ValueError(f"Expected image array to have rank 3 (single image). Got array with shape: {x.shape}")
    if data_format not in (None, "channels_first", "channels_last"):
        raise ValueError(f"Invalid data_format: {data_format}")
    if layout(data_format) == "channels_first":
        x = x.transpose(1, 2, 0)
    if scale:
        x = x - x.min()
        highest = x.max()
        x = x / highest * 255 if highest else x
    channels = x.shape[2]
    if channels == 1:
        plane = x[:, :, 0]
        return PIL.Image.fromarray(plane.astype(np.int32 if plane.max() > 255 else np.uint8))
    if channels in (3, 4):
        return PIL.Image.fromarray(x.astype(np.uint8))
    raise ValueError(f"Unsupported channel number: {channels}")


@public("keras.preprocessing.image.save_img")
def save_img(path: Any, x: Any, data_format: str | None = None, file_format: str | None = None, scale: bool = True, **kwargs: Any) -> None:
    """Writes numbers as a picture."""
    picture = array_to_img(x, data_format=data_format, scale=scale)
    if picture.mode == "RGBA" and file_format in ("jpg", "jpeg"):
        warnings.warn("The JPG format does not support RGBA images, converting to RGB.", stacklevel=2)
        picture = picture.convert("RGB")
    picture.save(path, format=file_format, **kwargs)


@public("keras.preprocessing.image.apply_affine_transform")
def apply_affine_transform(
    x: np.ndarray,
    theta: float = 0,
    tx: float = 0,
    ty: float = 0,
    shear: float = 0,
    zx: float = 1,
    zy: float = 1,
    row_axis: int = 0,
    col_axis: int = 1,
    channel_axis: int = 2,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    order: int = 1,
) -> np.ndarray:
    """Turns (degrees), moves, shears (degrees) and zooms a picture around its middle."""
    try:
        from scipy import ndimage
    except ImportError:
        raise ImportError("Image transformations require SciPy. Install SciPy.") from None
    matrix = np.eye(3)
    if theta:
        angle = np.deg2rad(theta)
        matrix[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    matrix = matrix @ [[1, 0, tx], [0, 1, ty], [0, 0, 1]]
    if shear:
        angle = np.deg2rad(shear)
        matrix = matrix @ [[1, -np.sin(angle), 0], [0, np.cos(angle), 0], [0, 0, 1]]
    matrix = matrix @ np.diag([zx, zy, 1])
    if (matrix == np.eye(3)).all():
        return x
    middle = np.array([x.shape[row_axis], x.shape[col_axis]]) / 2 + 0.5
    offset = matrix[:2, 2] + middle - matrix[:2, :2] @ middle
    planes = np.moveaxis(x, channel_axis, 0)
    moved = [ndimage.affine_transform(plane, matrix[:2, :2], offset, order=order, mode=fill_mode, cval=cval) for plane in planes]
    return np.moveaxis(np.stack(moved), 0, channel_axis)


@public("keras.preprocessing.image.apply_channel_shift")
def apply_channel_shift(x: np.ndarray, intensity: float, channel_axis: int = 0) -> np.ndarray:
    """Adds `intensity` to every number, within the range that the picture has."""
    return np.clip(x + intensity, x.min(), x.max())


@public("keras.preprocessing.image.apply_brightness_shift")
def apply_brightness_shift(x: np.ndarray, brightness: float) -> np.ndarray:
    """A picture made brighter (above 1) or darker, as Pillow does it: its numbers are stretched to 0 ... 255 first."""
    from PIL import ImageEnhance

    return img_to_array(ImageEnhance.Brightness(array_to_img(x)).enhance(brightness))


# Pictures that are turned, sheared and zoomed at random have their centre by these axes, whichever are said to be the rows and columns.
_CENTRE = (0, 1)


@public("keras.preprocessing.image.random_rotation")
def random_rotation(
    x: np.ndarray,
    rg: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> np.ndarray:
    """Turns a picture by up to `rg` degrees."""
    theta = np.random.uniform(-rg, rg)
    return apply_affine_transform(x, theta, 0, 0, 0, 1, 1, *_CENTRE, channel_axis, fill_mode, cval, interpolation_order)


@public("keras.preprocessing.image.random_shift")
def random_shift(
    x: np.ndarray,
    wrg: float,
    hrg: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> np.ndarray:
    """Moves a picture by up to these parts of its width and height."""
    tx = np.random.uniform(-hrg, hrg) * x.shape[row_axis]
    ty = np.random.uniform(-wrg, wrg) * x.shape[col_axis]
    return apply_affine_transform(x, 0, tx, ty, 0, 1, 1, row_axis, col_axis, channel_axis, fill_mode, cval, interpolation_order)


@public("keras.preprocessing.image.random_shear")
def random_shear(
    x: np.ndarray,
    intensity: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> np.ndarray:
    """Shears a picture by up to `intensity` degrees."""
    shear = np.random.uniform(-intensity, intensity)
    return apply_affine_transform(x, 0, 0, 0, shear, 1, 1, *_CENTRE, channel_axis, fill_mode, cval, interpolation_order)


@public("keras.preprocessing.image.random_zoom")
def random_zoom(
    x: np.ndarray,
    zoom_range: Any,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> np.ndarray:
    """Zooms a picture by a factor of the range, of its own for each axis."""
    if len(zoom_range) != 2:
        raise ValueError(f"`zoom_range` should be a tuple or list of two floats. Received: {zoom_range}")
    zx, zy = (1, 1) if zoom_range[0] == zoom_range[1] == 1 else np.random.uniform(zoom_range[0], zoom_range[1], 2)
    return apply_affine_transform(x, 0, 0, 0, 0, zx, zy, *_CENTRE, channel_axis, fill_mode, cval, interpolation_order)


@public("keras.preprocessing.image.random_channel_shift")
def random_channel_shift(x: np.ndarray, intensity_range: float, channel_axis: int = 0) -> np.ndarray:
    """Adds up to `intensity_range` to every number."""
    return apply_channel_shift(x, np.random.uniform(-intensity_range, intensity_range), channel_axis)


@public("keras.preprocessing.image.random_brightness")
def random_brightness(x: np.ndarray, brightness_range: Any) -> np.ndarray:
    """A picture with a brightness of the range."""
    if len(brightness_range) != 2:
        raise ValueError(f"`brightness_range should be tuple or list of two floats. Received: {brightness_range}")
    return apply_brightness_shift(x, np.random.uniform(*brightness_range))
