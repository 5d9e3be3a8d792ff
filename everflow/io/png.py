"""PNG files of 8 and 16 bits a channel."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from everflow._native import filtered_lines
from everflow.errors import invalid_argument

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_GRAY, _RGB, _GRAY_ALPHA = 0, 2, 4
_COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}


def png_header(contents: bytes) -> tuple[int, int, int, int]:
    """Width, height, bits a channel and colour type."""
    if not contents.startswith(_SIGNATURE) or len(contents) < 33:
        raise invalid_argument("Invalid PNG header, data size " + str(len(contents)))
    return struct.unpack_from(">IIBB", contents, 16)  # type: ignore[return-value]


def decode_png(contents: bytes, channels: int = 0, sixteen_bits: bool = False) -> np.ndarray:
    """A PNG's pixels as uint8 or uint16, [height, width, channels]; 0 channels are those of the file."""
    if channels not in (0, 1, 3, 4):
        raise invalid_argument(f"channels must be 0, 1, 3, or 4, got {channels}")
    _, _, depth, colour = png_header(contents)
    try:
        pixels = _sixteen_bit_pixels(contents) if depth == 16 else _eight_bit_pixels(contents)
    except (OSError, SyntaxError, ValueError):
        raise invalid_argument("Invalid PNG header, data size " + str(len(contents))) from None
    if depth == 16 and not sixteen_bits:
        pixels = (pixels >> 8).astype(np.uint8)
    if channels == 0 and colour in (_GRAY, _RGB):
        # One colour that stands for transparency makes no channel unless alpha is asked for.
        pixels = pixels[..., : 1 if colour == _GRAY else 3]
    # What is opaque has all bits of the file's depth set, even where other bits follow.
    pixels = _with_channels(pixels, channels, (1 << min(depth, 8)) - 1 if pixels.dtype == np.uint8 else 65535)
    return pixels.astype(np.uint16) * 257 if sixteen_bits and pixels.dtype == np.uint8 else pixels


def _eight_bit_pixels(contents: bytes) -> np.ndarray:
    from PIL import Image

    image: Any = Image.open(io.BytesIO(contents))
    clear = "transparency" in image.info
    if image.mode in ("1", "L"):
        image = image.convert("LA" if clear else "L")
    elif image.mode == "P":
        # Palettes hold colours even where all of them are grays.
        image = image.convert("RGBA" if clear else "RGB")
    elif image.mode == "RGB" and clear:
        image = image.convert("RGBA")
    found = np.asarray(image)
    return found[..., None] if found.ndim == 2 else found


def _sixteen_bit_pixels(contents: bytes) -> np.ndarray:
    """Pillow keeps the first byte it is told of each number: reading both ways round gives both bytes."""
    from PIL import Image

    image = Image.open(io.BytesIO(contents))
    if image.mode.startswith("I"):
        return np.asarray(image).astype(np.uint16)[..., None]
    if png_header(contents)[3] == _GRAY_ALPHA:
        # Gray and alpha of 16 bits lie in the file as four channels of 8 bits do.
        header = contents[16:24] + bytes([8, 6]) + contents[26:29]
        chunk = b"IHDR" + header
        pixels = _eight_bit_pixels(contents[:12] + chunk + struct.pack(">I", zlib.crc32(chunk)) + contents[33:])
        return np.ascontiguousarray(pixels).view(">u2").astype(np.uint16)
    high = np.asarray(image).astype(np.uint16)
    low_image: Any = Image.open(io.BytesIO(contents))
    low_image.tile = [tile._replace(args=tile.args.replace("16B", "16L")) for tile in low_image.tile]
    return high << 8 | np.asarray(low_image)


def _with_channels(pixels: np.ndarray, channels: int, opaque: int) -> np.ndarray:
    found = pixels.shape[2]
    if channels in (0, found):
        return pixels
    alpha = pixels[..., -1:] if found in (2, 4) else np.full_like(pixels[..., :1], opaque)
    colours = pixels[..., :-1] if found in (2, 4) else pixels
    if channels == 1:
        return colours if colours.shape[2] == 1 else _luminance(colours)
    rgb = colours if colours.shape[2] == 3 else colours.repeat(3, 2)
    return rgb if channels == 3 else np.concatenate([rgb, alpha], 2)


def _luminance(rgb: np.ndarray) -> np.ndarray:
    """Gray by the weights 0.299, 0.587 and 0.114, in parts of 32768, always with the precision of 8 bits."""
    wide = (rgb >> 8 if rgb.dtype == np.uint16 else rgb).astype(np.uint32)
    gray = ((9797 * wide[..., 0] + 19234 * wide[..., 1] + 3737 * wide[..., 2]) >> 15)[..., None]
    return (gray * 257 if rgb.dtype == np.uint16 else gray).astype(rgb.dtype)


def encode_png(image: np.ndarray, compression: int = -1) -> bytes:
    """The PNG file of a uint8 or uint16 image with one to four channels."""
    big_endian = image.astype(image.dtype.newbyteorder(">"), copy=False)
    return encode_pixels(big_endian.tobytes(), image.shape, 8 * image.dtype.itemsize, compression)


def encode_pixels(pixels: bytes, shape: Sequence[int], bits: int = 8, compression: int = -1, filters: bool = True) -> bytes:
    """The PNG file of an image [height, width, channels] whose numbers are written with their most significant byte first."""
    height, width, channels = shape
    pixel = channels * bits // 8
    line = width * pixel
    lines = (
        filtered_lines(pixels, height, line, pixel)
        if filters
        else b"".join([b"\0" + pixels[at : at + line] for at in range(0, height * line, line)])
    )
    header = struct.pack(">IIBBBBB", width, height, bits, _COLOUR_TYPES[channels], 0, 0, 0)
    return _SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", _deflated(lines, compression)) + _chunk(b"IEND", b"")


def _deflated(data: bytes, level: int) -> bytes:
    """What zlib makes of data. Its tables are no larger than the data need: for small pictures, clearing them takes most of the time."""
    size = (len(data) + 300).bit_length()
    stream = zlib.compressobj(level, zlib.DEFLATED, min(max(size, 10), 15), min(max(size - 8, 1), 8))
    return stream.compress(data) + stream.flush()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
