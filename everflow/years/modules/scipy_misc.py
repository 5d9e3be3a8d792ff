"""`scipy.misc`: images as arrays, by way of Pillow; and what is in scipy.special now."""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image, ImageFilter
from scipy.special import comb as comb
from scipy.special import factorial as factorial
from scipy.special import factorial2 as factorial2
from scipy.special import factorialk as factorialk
from scipy.special import logsumexp as logsumexp

_RESAMPLING = {
    "nearest": Image.Resampling.NEAREST,
    "lanczos": Image.Resampling.LANCZOS,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "cubic": Image.Resampling.BICUBIC,
}


def __getattr__(name: str) -> Any:
    if name in ("face", "ascent", "electrocardiogram"):
        from scipy import datasets

        return getattr(datasets, name)
    raise AttributeError(f"module 'scipy.misc' has no attribute {name!r}")


def bytescale(data: Any, cmin: Any = None, cmax: Any = None, high: int = 255, low: int = 0) -> Any:
    """Stretches values between cmin and cmax (the least and the greatest) to bytes between low and high. Bytes stay as they are."""
    data = np.asarray(data)
    if data.dtype == np.uint8:
        return data
    if not 0 <= low <= high <= 255:
        raise ValueError("`high` and `low` should be in [0, 255], `low` not above `high`.")
    cmin = data.min() if cmin is None else cmin
    cmax = data.max() if cmax is None else cmax
    if cmax < cmin:
        raise ValueError("`cmax` should be larger than `cmin`.")
    spread = float(cmax) - float(cmin)
    scaled = (data - float(cmin)) * ((high - low) / (spread or 1.0)) + low
    return (np.clip(scaled, low, high) + 0.5).astype(np.uint8)


def fromimage(im: Any, flatten: bool = False, mode: str | None = None) -> Any:
    """The array of an image; flatten makes one channel of floats."""
    if not isinstance(im, Image.Image):
        raise TypeError("Input is not a PIL image.")
    if mode is not None:
        im = im.convert(mode) if mode != im.mode else im
    elif im.mode == "P":
        # A palette with transparency becomes four channels.
        im = im.convert("RGBA" if "transparency" in im.info else "RGB")
    if flatten:
        im = im.convert("F")
    elif im.mode == "1":
        im = im.convert("L")
    return np.array(im)


def toimage(
    arr: Any,
    high: int = 255,
    low: int = 0,
    cmin: Any = None,
    cmax: Any = None,
    pal: Any = None,
    mode: str | None = None,
    channel_axis: int | None = None,
) -> Any:
    """An image of an array of two dimensions, or of three where one has three or four channels. Values are stretched to bytes."""
    data = np.asarray(arr)
    if np.iscomplexobj(data):
        raise ValueError("Cannot convert a complex-valued array.")
    if data.ndim == 2:
        return _gray(data, high, low, cmin, cmax, pal, mode)
    if data.ndim != 3 or not {3, 4} & set(data.shape):
        raise ValueError("'arr' does not have a suitable array shape for any mode.")
    if channel_axis is None:
        channel_axis = next((axis for axis in (2, 1, 0) if data.shape[axis] == 3), None)
        channel_axis = next(axis for axis in (2, 1, 0) if data.shape[axis] == 4) if channel_axis is None else channel_axis
    if data.shape[channel_axis] not in (3, 4):
        raise ValueError("Channel axis dimension is not valid.")
    pixels = np.ascontiguousarray(np.moveaxis(bytescale(data, cmin, cmax, high, low), channel_axis, 2))
    mode = mode or ("RGB" if pixels.shape[2] == 3 else "RGBA")
    if mode not in ("RGB", "RGBA", "YCbCr", "CMYK"):
        raise ValueError("Invalid mode.")
    return Image.frombytes(mode, (pixels.shape[1], pixels.shape[0]), pixels.tobytes())


def _gray(data: Any, high: int, low: int, cmin: Any, cmax: Any, pal: Any, mode: str | None) -> Any:
    size = data.shape[1], data.shape[0]
    if mode == "F":
        return Image.frombytes("F", size, data.astype(np.float32).tobytes())
    if mode == "I":
        return Image.frombytes("I", size, data.astype(np.uint32).tobytes())
    if mode == "1":
        return Image.fromarray(np.asarray(bytescale(data, cmin, cmax, high, low) > high // 2))
    if mode not in (None, "L", "P"):
        raise ValueError("Invalid mode.")
    image = Image.frombytes("L", size, bytescale(data, cmin, cmax, high, low).tobytes())
    if pal is not None or mode == "P":
        palette = np.asarray(np.arange(256).repeat(3).reshape(-1, 3) if pal is None else pal, np.uint8)
        image.putpalette(palette.tobytes())
    return image


def imread(name: Any, flatten: bool = False, mode: str | None = None) -> Any:
    """Reads an image file as an array."""
    with Image.open(name) as image:
        return fromimage(image, flatten, mode)


def imsave(name: Any, arr: Any, format: str | None = None) -> None:
    """Writes an array as an image file; values are stretched to bytes."""
    toimage(arr, channel_axis=2 if np.ndim(arr) == 3 else None).save(name, format)


def imresize(arr: Any, size: Any, interp: str = "bilinear", mode: str | None = None) -> Any:
    """Resizes to percents (an integer), by a factor (a float) or to (height, width)."""
    image = toimage(arr, mode=mode)
    if np.issubdtype(np.asarray(size).dtype, np.floating) and np.ndim(size) == 0:
        wanted = tuple(int(side * size) for side in image.size)
    elif np.ndim(size) == 0:
        wanted = tuple(int(side * (size / 100.0)) for side in image.size)
    else:
        wanted = int(size[1]), int(size[0])
    return fromimage(image.resize(wanted, _RESAMPLING[interp]))


def imrotate(arr: Any, angle: float, interp: str = "bilinear") -> Any:
    """Turns an image against the clock."""
    kinds = {**_RESAMPLING, "lanczos": _RESAMPLING["bicubic"]}
    return fromimage(toimage(arr).rotate(angle, resample=kinds[interp]))


def imfilter(arr: Any, ftype: str) -> Any:
    """One of Pillow's filters, by name."""
    known = ("blur", "contour", "detail", "edge_enhance", "edge_enhance_more", "emboss", "find_edges", "smooth", "smooth_more", "sharpen")
    if ftype not in known:
        raise ValueError("Unknown filter type.")
    return fromimage(toimage(arr).filter(getattr(ImageFilter, ftype.upper())))


def imshow(arr: Any) -> None:
    """Shows an array with the system's viewer."""
    toimage(arr).show()
