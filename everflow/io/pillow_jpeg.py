"""JPEG files and arrays by Pillow: what is done where the native extension was built without libjpeg-turbo."""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np

from everflow.errors import InvalidArgumentError, invalid_argument, unimplemented

# Start-of-frame markers; C4, C8 and CC mean something else.
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_END_OF_IMAGE = b"\xff\xd9"


def jpeg_shape(contents: bytes) -> tuple[int, int, int]:
    """Height, width and channels, read from the headers alone."""
    try:
        height, width, sampling = _jpeg_frame(contents)
    except InvalidArgumentError:
        raise invalid_argument(f"Invalid JPEG data, size {len(contents)}") from None
    return height, width, len(sampling)


def _jpeg_frame(contents: bytes) -> tuple[int, int, list[tuple[int, int]]]:
    """Height, width, and the horizontal and vertical sampling factors of each component."""
    position = 2
    while position + 9 < len(contents):
        if contents[position] != 0xFF:
            position += 1
            continue
        marker = contents[position + 1]
        if marker in _FRAMES:
            height, width, components = struct.unpack_from(">HHB", contents, position + 5)
            factors = [contents[position + 11 + 3 * i] for i in range(components)]
            return height, width, [(f >> 4, f & 15) for f in factors]
        if marker == 0xFF or marker == 0x01 or 0xD0 <= marker <= 0xD8:
            position += 1 if marker == 0xFF else 2
            continue
        position += 2 + int.from_bytes(contents[position + 2 : position + 4], "big")
    raise invalid_argument(f"Invalid JPEG data or crop window, data size {len(contents)}")


def decode_jpeg(
    contents: bytes,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    recover: bool = False,
    least: float = 1.0,
    crop: tuple[int, int, int, int] | None = None,
    accurate: bool = False,
) -> np.ndarray:
    """A JPEG's pixels; `crop` is (top, left, height, width) of the scaled image. `recover` takes what a cut-off file holds.

    A file that lacks rows has none to be had unless it is recovered, however few would do (`least`).
    Unless asked for an accurate transform, TensorFlow uses the fast one. Pillow has that together with repeated chroma samples alone:
    where chroma is to be interpolated, the accurate one stands in, which differs by a few of 255 steps.
    """
    if channels not in (0, 1, 3):
        raise invalid_argument(f"channels must be 0, 1, or 3 for JPEG, got {channels}")
    height, width, sampling = _jpeg_frame(contents)
    channels = channels or (1 if len(sampling) == 1 else 3)
    size = len(contents)
    if recover:
        # The decoder fills what is missing once it meets the end of the image.
        contents += _END_OF_IMAGE
    try:
        interpolates = channels == 3 and len(set(sampling)) > 1
        if accurate and interpolates and not fancy_upscaling:
            pixels = _replicated_chroma(contents, sampling, ratio)
        else:
            is_fast = not accurate and not (interpolates and fancy_upscaling)
            pixels = _pixels(_decoded(contents, (height, width), len(sampling), ratio, "L" if channels == 1 else "RGB", is_fast), channels)
    except (OSError, SyntaxError, ValueError):
        raise invalid_argument(f"Invalid JPEG data or crop window, data size {size}") from None
    if crop is None:
        return pixels
    top, left, tall, wide = crop
    height, width = pixels.shape[:2]
    if wide <= 0 or tall <= 0 or left < 0 or top < 0 or left + wide > width or top + tall > height:
        raise invalid_argument(f"Invalid JPEG data or crop window, data size {size}")
    return pixels[top : top + tall, left : left + wide]


def _decoded(contents: bytes, size: tuple[int, int], components: int, ratio: int, mode: str, is_fast: bool) -> Any:
    """The picture at a part of its size; in the mode that is wanted where its own colours are gray or RGB. The fast way to decode
    repeats chroma samples and takes the less accurate transform."""
    from PIL import Image

    if components == 4:
        found = Image.open(io.BytesIO(contents))
        return _scaled(found, size, ratio) if ratio > 1 else found
    reduced = -(-size[1] // ratio), -(-size[0] // ratio)
    # Given to its decoder as a whole, a file is spared a second reading of its headers.
    own = "L" if components == 1 else mode
    return Image.frombytes(own, reduced, contents, "jpeg", own, "", ratio, int(is_fast))


def _scaled(image: Any, size: tuple[int, int], ratio: int) -> Any:
    """The image, to be decoded at a part of its size."""
    image.draft("RGB", (max(size[1] // ratio, 1), max(size[0] // ratio, 1)))
    return image


def _pixels(image: Any, channels: int) -> np.ndarray:
    if image.mode == "CMYK":
        if channels == 1:
            raise ValueError("four inks have no gray")
        inks = np.asarray(image).astype(np.uint16)
        image = ((255 - inks[..., :3]) * (255 - inks[..., 3:]) // 255).astype(np.uint8)
        return image
    wanted = "L" if channels == 1 else "RGB"
    if image.mode != wanted:
        image = image.convert(wanted)
    return np.asarray(_Owned(image.tobytes(), (image.height, image.width, channels)))


class _Owned:
    """Bytes that nobody else has seen: as an array, they may be written to."""

    def __init__(self, contents: bytes, shape: tuple[int, ...]) -> None:
        self.contents = contents
        address = np.frombuffer(contents, np.uint8).__array_interface__["data"][0]
        self.__array_interface__ = {"version": 3, "shape": shape, "typestr": "|u1", "data": (address, False)}


def _replicated_chroma(contents: bytes, sampling: list[tuple[int, int]], ratio: int) -> np.ndarray:
    """Decoding with each chroma sample repeated, not interpolated. At half the size the decoder gives chroma samples as they are
    stored where they are stored at half the size in both directions, which is what nearly all files do."""
    from PIL import Image

    if sampling != [(2, 2), (1, 1), (1, 1)]:
        raise unimplemented("fancy_upscaling=False needs chroma at half the size in both directions")
    whole = Image.open(io.BytesIO(contents))
    height, width = whole.height, whole.width
    if ratio > 1:
        return _pixels(_scaled(whole, (height, width), ratio), 3)
    whole.draft("YCbCr", (width, height))
    half = Image.open(io.BytesIO(contents))
    half.draft("YCbCr", (max(width // 2, 1), max(height // 2, 1)))
    luma = np.asarray(whole)[..., :1]
    chroma = np.asarray(half)[..., 1:].repeat(2, 0).repeat(2, 1)[:height, :width]
    return np.asarray(Image.fromarray(np.concatenate([luma, chroma], 2), "YCbCr").convert("RGB"))


def encode_jpeg(
    image: np.ndarray,
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density: tuple[str, int, int] = ("in", 300, 300),
    xmp: bytes = b"",
) -> bytes:
    """The JPEG file of an image with one or three channels."""
    from PIL import Image

    unit, across, down = density
    picture = Image.fromarray(image[..., 0] if image.shape[2] == 1 else np.ascontiguousarray(image))
    out = io.BytesIO()
    options: dict[str, Any] = {"xmp": xmp} if xmp else {}
    # Pillow writes densities per inch; the header's unit is put right afterwards.
    picture.save(
        out,
        "JPEG",
        quality=quality,
        progressive=progressive,
        optimize=optimize_size,
        dpi=(across, down),
        subsampling=2 if chroma_downsampling else 0,
        **options,
    )
    found = out.getvalue()
    if unit == "cm":
        at = found.index(b"JFIF\0") + 7
        found = found[:at] + b"\2" + found[at + 1 :]
    return found
