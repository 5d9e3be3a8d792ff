"""Image files and arrays: which kind a file is, GIF and BMP. Images are uint8 arrays [height, width, channels]."""

from __future__ import annotations

import io
import struct

import numpy as np

from everflow.errors import invalid_argument

JPEG, PNG, GIF, BMP = "JPEG", "PNG", "GIF", "BMP"
_SIGNATURES = {b"\xff\xd8\xff": JPEG, b"\x89PNG": PNG, b"GIF8": GIF, b"BM": BMP}


def file_kind(contents: bytes) -> str | None:
    """Which kind of image file this is, by its first bytes."""
    return next((kind for signature, kind in _SIGNATURES.items() if contents.startswith(signature)), None)


def decode_gif(contents: bytes) -> np.ndarray:
    """All frames of an animation, [frames, height, width, 3]."""
    from PIL import Image, ImageSequence

    try:
        frames = [np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(Image.open(io.BytesIO(contents)))]
    except (OSError, SyntaxError, ValueError):
        raise invalid_argument(f"Invalid GIF data (size {len(contents)})") from None
    return np.stack(frames)


def decode_bmp(contents: bytes, channels: int = 0) -> np.ndarray:
    """A bitmap without compression of 8 (gray), 24 or 32 bits a pixel."""
    if len(contents) < 32:
        raise invalid_argument(
            f"Incomplete bmp content, requires at least 32 bytes to find the header size, width, height, and bpp, got {len(contents)} bytes"
        )
    (start,) = struct.unpack_from("<I", contents, 10)
    width, height = struct.unpack_from("<ii", contents, 18)
    (bits,) = struct.unpack_from("<i", contents, 28)
    found = int(bits / 8)
    if channels:
        if channels != found:
            raise invalid_argument(f"channels attribute {channels} does not match bits per pixel from file {found}")
    if found not in (1, 3, 4):
        raise invalid_argument(f"Number of channels must be 1, 3 or 4, was {found}")
    if width < 0:
        raise invalid_argument(f"Width must not be negative: {width}")
    rows, stride = abs(height), (width * found + 3) // 4 * 4
    if len(contents) < start + stride * (rows - 1) + width * found:
        raise invalid_argument(f"Incomplete bmp content, requires at least {start + stride * rows} bytes, got {len(contents)} bytes")
    data = np.frombuffer(contents, np.uint8, offset=start)
    lines = np.zeros(rows * stride, np.uint8)
    lines[: min(data.size, lines.size)] = data[: lines.size]
    pixels: np.ndarray = lines.reshape(rows, stride)[:, : width * found].reshape(rows, width, found)
    if height > 0:
        pixels = pixels[::-1]
    order = [2, 1, 0, 3][:found] if found > 1 else [0]
    return np.ascontiguousarray(pixels[..., order])
