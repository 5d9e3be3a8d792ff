"""JPEG files and arrays [height, width, channels] of uint8: natively where the extension was built with libjpeg-turbo, else by Pillow."""

from __future__ import annotations

import numpy as np

from everflow import _native
from everflow.errors import invalid_argument
from everflow.io import pillow_jpeg

IS_NATIVE = hasattr(_native, "decode_jpeg")
# What goes before XMP metadata, and the numbers of units of density.
_XMP = b"http://ns.adobe.com/xap/1.0/\0"
_UNITS = {"in": 1, "cm": 2}


def _shape(contents: bytes) -> tuple[int, int, int]:
    """Height, width and channels, read from the headers alone."""
    try:
        return _native.jpeg_shape(contents)
    except ValueError:
        raise invalid_argument(f"Invalid JPEG data, size {len(contents)}") from None


def _decode(
    contents: bytes,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    recover: bool = False,
    least: float = 1.0,
    crop: tuple[int, int, int, int] | None = None,
    accurate: bool = False,
) -> np.ndarray:
    """A JPEG's pixels; `crop` is (top, left, height, width) of the scaled image.

    `recover` takes what a cut-off file holds; where it is False, `least` is the part of the rows that there must be, and the others are
    black.
    """
    if channels not in (0, 1, 3):
        raise invalid_argument(f"channels must be 0, 1, or 3 for JPEG, got {channels}")
    try:
        return _native.decode_jpeg(contents, channels, ratio, fancy_upscaling, recover, least, accurate, crop)
    except ValueError:
        raise invalid_argument(f"Invalid JPEG data or crop window, data size {len(contents)}") from None


def _encode(
    image: np.ndarray,
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density: tuple[str, int, int] = ("in", 300, 300),
    xmp: bytes = b"",
) -> bytes:
    """The JPEG file of an image with one or three channels."""
    unit, across, down = density
    try:
        return _native.encode_jpeg(
            np.ascontiguousarray(image),
            quality,
            progressive,
            optimize_size,
            chroma_downsampling,
            (_UNITS[unit], across, down),
            _XMP + xmp if xmp else b"",
        )
    except ValueError:
        raise invalid_argument("JPEG encoding failed") from None


jpeg_shape = _shape if IS_NATIVE else pillow_jpeg.jpeg_shape
decode_jpeg = _decode if IS_NATIVE else pillow_jpeg.decode_jpeg
encode_jpeg = _encode if IS_NATIVE else pillow_jpeg.encode_jpeg
