"""Decoding and encoding of image files: JPEG, PNG, GIF, BMP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.errors import OpError, invalid_argument
from everflow.graph import dtypes
from everflow.graph.constants import dims_of
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import control_dependencies, name_scope
from everflow.io import images as files
from everflow.io import jpeg, png
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.core.shape_rules import ranked, with_rank
from everflow.ops.image.checks import exactly
from everflow.values.shown import escaped
from everflow.values.tensors import from_numpy, to_numpy, torch_dtype

Kernel = Callable[..., Any]
_DCT_METHODS = ("", "INTEGER_FAST", "INTEGER_ACCURATE")


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _contents(value: Any) -> bytes:
    if np.ndim(value):
        raise invalid_argument(f"contents must be scalar, got shape {list(np.shape(value))}")
    return value.item() if isinstance(value, np.ndarray) else value


def _bytes(value: bytes) -> np.ndarray:
    found: np.ndarray = np.empty((), dtype=object)
    found[()] = value
    return found


def _tensor(pixels: np.ndarray, kind: dtypes.DType = dtypes.uint8) -> Any:
    return from_numpy(pixels, kind)


def _any_image(contents: bytes, channels: int, kind: dtypes.DType, options: dict[str, Any]) -> np.ndarray:
    """Each of the decoders reads the other kinds of files too; GIFs only where they hold one picture."""
    found = files.file_kind(contents)
    if found == files.JPEG:
        if kind != dtypes.uint8:
            raise invalid_argument("JPEG does not support uint16 output")
        return jpeg.decode_jpeg(contents, channels, **options)
    if found == files.PNG:
        return png.decode_png(contents, channels, kind == dtypes.uint16)
    if found == files.GIF:
        if kind != dtypes.uint8:
            raise invalid_argument("GIF does not support uint16 output")
        if channels not in (0, 3):
            raise invalid_argument(f"channels must be 0 or 3 for GIF, got {channels}")
        frames = files.decode_gif(contents)
        if frames.shape[0] != 1:
            raise invalid_argument(
                f"Got {frames.shape[0]} frames, but animated gifs can only be decoded by tf.image.decode_gif or tf.image.decode_image"
            )
        return frames[0]
    raise _unknown_format(contents)


def _unknown_format(contents: bytes) -> OpError:
    found = f"unknown format starting with '{escaped(contents[:16])}'" if contents else "empty file"
    return invalid_argument(f"Expected image (JPEG, PNG, or GIF), got {found}")


def _jpeg_options(node: Node) -> dict[str, Any]:
    if _text(node.attr("dct_method")) not in _DCT_METHODS:
        raise invalid_argument("dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}")
    ratio = node.attr("ratio")
    if ratio not in (1, 2, 4, 8):
        raise invalid_argument(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    return {
        "ratio": ratio,
        "fancy_upscaling": node.attr("fancy_upscaling"),
        "recover": node.attr("try_recover_truncated"),
        "least": node.attr("acceptable_fraction"),
        "accurate": _text(node.attr("dct_method")) == "INTEGER_ACCURATE",
    }


def _checked_channels(node: Node) -> int:
    channels = node.attr("channels")
    if channels not in (0, 1, 3, 4):
        raise invalid_argument(f"channels must be 0, 1, 3, or 4, got {channels}")
    return channels


def _decode_jpeg(node: Node) -> Kernel:
    options, channels = _jpeg_options(node), _checked_channels(node)
    return lambda contents: _tensor(_any_image(_contents(contents), channels, dtypes.uint8, options))


def _decode_and_crop(node: Node) -> Kernel:
    options, channels = _jpeg_options(node), _checked_channels(node)

    def run(contents: Any, window: Any) -> Any:
        top, left, height, width = window.tolist()
        data = _contents(contents)
        if files.file_kind(data) is None:
            raise _unknown_format(data)
        return _tensor(jpeg.decode_jpeg(data, channels, crop=(top, left, height, width), **options))

    return run


def _decode_png(node: Node) -> Kernel:
    kind, channels = node.attr("dtype"), _checked_channels(node)
    return lambda contents: _tensor(_any_image(_contents(contents), channels, kind, {}), kind)


def _decode_gif(node: Node) -> Kernel:
    def run(contents: Any) -> Any:
        data = _contents(contents)
        found = files.file_kind(data)
        if found == files.GIF:
            return _tensor(files.decode_gif(data))
        if found == files.BMP or found is None:
            raise _unknown_format(data)
        return _tensor(_any_image(data, 3, dtypes.uint8, {})[None])

    return run


def _decode_bmp(node: Node) -> Kernel:
    channels = node.attr("channels")
    return lambda contents: _tensor(files.decode_bmp(_contents(contents), channels))


def _jpeg_size(node: Node) -> Kernel:
    kind = torch_dtype(node.attr("output_type"))
    return lambda contents: torch.tensor(jpeg.jpeg_shape(_contents(contents)), dtype=kind)


def _dims(image: Any) -> str:
    return "[" + ",".join(map(str, image.shape)) + "]"


def _checked_picture(image: Any) -> np.ndarray:
    if image.ndim != 3:
        raise invalid_argument(f"image must be 3-dimensional{_dims(image)}")
    return image.cpu().numpy()


def _encode_jpeg(node: Node) -> Kernel:
    kind, quality = _text(node.attr("format")), node.attr("quality")
    wanted = {"": None, "grayscale": 1, "rgb": 3}[kind]
    if not 0 <= quality <= 100:
        raise invalid_argument(f"quality must be in [0,100], got {quality}")
    xmp = node.attr("xmp_metadata")
    options = {
        "quality": quality,
        "progressive": node.attr("progressive"),
        "optimize_size": node.attr("optimize_size"),
        "chroma_downsampling": node.attr("chroma_downsampling"),
        "xmp": xmp if isinstance(xmp, bytes) else xmp.encode(),
        "density": (_text(node.attr("density_unit")), node.attr("x_density"), node.attr("y_density")),
    }

    def run(image: Any) -> Any:
        pixels = _checked_picture(image)
        channels = pixels.shape[2]
        if wanted is not None and channels != wanted:
            raise invalid_argument(f"format {kind} expects {wanted} channels, got {_dims(image)}")
        if channels not in (1, 3):
            raise invalid_argument(f"image must have 1 or 3 channels, got {_dims(image)}")
        return _bytes(jpeg.encode_jpeg(pixels, **options))

    return run


def _encode_jpeg_variable(node: Node) -> Kernel:
    def run(image: Any, quality: Any) -> Any:
        # As in libjpeg, what is beyond the best or the worst is these.
        pixels, level = _checked_picture(image), min(max(int(quality), 1), 100)
        if pixels.shape[2] not in (1, 3):
            raise invalid_argument(f"image must have 1 or 3 channels, got {_dims(image)}")
        return _bytes(jpeg.encode_jpeg(pixels, quality=level))

    return run


def _encode_png(node: Node) -> Kernel:
    level = node.attr("compression")
    if not -1 <= level <= 9:
        raise invalid_argument(f"compression should be in [-1,9], got {level}")

    def run(image: Any) -> Any:
        if image.ndim != 3:
            raise invalid_argument(f"image must be 3-dimensional{list(image.shape)}")
        pixels = to_numpy(image, node.inputs[0].dtype)
        if not 1 <= pixels.shape[2] <= 4:
            raise invalid_argument(f"image must have 1, 2, 3, or 4 channels, got {pixels.shape[2]}")
        return _bytes(png.encode_png(pixels, level))

    return run


def _decoded_shape(o: Operation) -> Any:
    with_rank(o.inputs[0].dims, 0)
    channels = o.attr("channels")
    if channels < 0:
        raise ValueError(f"channels must be non-negative, got {channels}")
    height, width = None, None
    if o.type == "DecodeAndCropJpeg":
        window = o.inputs[1]
        exactly(with_rank(window.dims, 1)[0], 4)
        known = dims_of(window)
        if known is not None and len(known) == 4:
            height, width = known[2:]
    return (height, width, channels or None)


def _encoded_shape(o: Operation) -> Any:
    with_rank(o.inputs[0].dims, 3)
    return ()


op("DecodeJpeg", kernel=_decode_jpeg, shape=_decoded_shape)
op("DecodeAndCropJpeg", kernel=_decode_and_crop, shape=_decoded_shape)
op("DecodePng", kernel=_decode_png, shape=_decoded_shape)
op("DecodeBmp", kernel=_decode_bmp, shape=_decoded_shape)
op("DecodeGif", kernel=_decode_gif, shape=ranked(lambda o: (None, None, None, 3), 0))
op("ExtractJpegShape", kernel=_jpeg_size, shape=lambda o: (3,))
op("EncodeJpeg", kernel=_encode_jpeg, shape=_encoded_shape)
op("EncodeJpegVariableQuality", kernel=_encode_jpeg_variable, shape=_encoded_shape)
op("EncodePng", kernel=_encode_png, shape=_encoded_shape)


@public("image.decode_jpeg", "io.decode_jpeg")
def decode_jpeg(
    contents: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Any:
    """The pixels of a JPEG file, at a part of its size if asked."""
    return apply(
        "DecodeJpeg",
        contents,
        channels=channels,
        ratio=ratio,
        fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction,
        dct_method=dct_method,
        name=name,
    )


@public("image.decode_and_crop_jpeg", "io.decode_and_crop_jpeg")
def decode_and_crop_jpeg(
    contents: Any,
    crop_window: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Any:
    """The pixels of a JPEG file inside a window [top, left, height, width]."""
    return apply(
        "DecodeAndCropJpeg",
        contents,
        crop_window,
        channels=channels,
        ratio=ratio,
        fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction,
        dct_method=dct_method,
        name=name,
    )


@public("image.decode_png", "io.decode_png")
def decode_png(contents: Any, channels: int = 0, dtype: dtypes.DTypeLike = dtypes.uint8, name: str | None = None) -> Any:
    """The pixels of a PNG file, as uint8 or uint16."""
    return apply("DecodePng", contents, channels=channels, dtype=dtype, name=name)


@public("image.decode_gif", "io.decode_gif")
def decode_gif(contents: Any, name: str | None = None) -> Any:
    """All frames of a GIF file."""
    return apply("DecodeGif", contents, name=name)


@public("image.decode_bmp", "io.decode_bmp")
def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> Any:
    """The pixels of a BMP file."""
    return apply("DecodeBmp", contents, channels=channels, name=name)


@public("image.extract_jpeg_shape", "io.extract_jpeg_shape")
def extract_jpeg_shape(contents: Any, output_type: Any = dtypes.int32, name: str | None = None) -> Any:
    """The shape of a JPEG file's image, without decoding it."""
    return apply("ExtractJpegShape", contents, output_type=output_type, name=name)


@public("image.encode_jpeg", "io.encode_jpeg")
def encode_jpeg(
    image: Any,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> Any:
    """The JPEG file of an image."""
    return apply(
        "EncodeJpeg",
        image,
        format=format,
        quality=quality,
        progressive=progressive,
        optimize_size=optimize_size,
        chroma_downsampling=chroma_downsampling,
        density_unit=density_unit,
        x_density=x_density,
        y_density=y_density,
        xmp_metadata=xmp_metadata,
        name=name,
    )


@public("image.encode_png")
def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Any:
    """The PNG file of an image of uint8 or uint16."""
    return apply("EncodePng", image, compression=compression, name=name)


@public("image.is_jpeg", "io.is_jpeg")
def is_jpeg(contents: Any, name: str | None = None) -> Any:
    """Whether a string begins as JPEG files do."""
    with name_scope(name, "is_jpeg"):
        return tf.equal(tf.substr(contents, 0, 3), b"\xff\xd8\xff")


def _is_png(contents: Any, name: str | None = None) -> Any:
    with name_scope(name, "is_png"):
        return tf.equal(tf.substr(contents, 0, 3), b"\211PN")


@public("image.decode_image", "io.decode_image")
def decode_image(
    contents: Any, channels: Any = None, dtype: dtypes.DTypeLike = dtypes.uint8, name: str | None = None, expand_animations: bool = True
) -> Any:
    """The pixels of a file of any kind; of a GIF all frames, or the first one unless animations are expanded."""
    with name_scope(name, "decode_image"):
        if channels not in (None, 0, 1, 3, 4):
            raise ValueError("channels must be in (None, 0, 1, 3, 4)")
        contents = convert_to_tensor(contents)
        start = tf.substr(contents, 0, 3)
        wants_sixteen = dtype == tf.uint16

        def checked(kind: str, allowed_without: tuple[int, ...], wrong: str) -> list[Any]:
            conditions = [tf.not_equal(channels or 0, n, name=f"check_{kind}_channels") for n in allowed_without]
            good = conditions[0] if len(conditions) == 1 else tf.logical_and(*conditions)
            return [tf.Assert(good, [wrong])]

        def as_bmp() -> Any:
            signature = tf.substr(contents, 0, 2)
            is_bmp = tf.equal(signature, "BM", name="is_bmp")
            checks = [tf.Assert(is_bmp, ["Unable to decode bytes as JPEG, PNG, GIF, or BMP"])]
            checks += checked("bmp", (1,), "Channels must be in (None, 0, 3) when decoding BMP images")
            with control_dependencies(checks):
                return tf.image.convert_image_dtype(apply("DecodeBmp", contents), dtype)

        def as_gif() -> Any:
            checks = checked("gif", (1, 4), "Channels must be in (None, 0, 3) when decoding GIF images")
            with control_dependencies(checks):
                found = tf.image.convert_image_dtype(apply("DecodeGif", contents), dtype)
                return found if expand_animations else tf.gather(found, 0)

        def gif_or_bmp() -> Any:
            is_gif = tf.equal(start, b"\x47\x49\x46", name="is_gif")
            return tf.cond(is_gif, as_gif, as_bmp, name="cond_gif")

        def as_png() -> Any:
            return tf.image.convert_image_dtype(
                apply("DecodePng", contents, channels=channels, dtype=tf.uint16 if wants_sixteen else tf.uint8), dtype
            )

        def png_or_more() -> Any:
            return tf.cond(_is_png(contents), as_png, gif_or_bmp, name="cond_png")

        def as_jpeg() -> Any:
            checks = checked("jpeg", (4,), "Channels must be in (None, 0, 1, 3) when decoding JPEG images")
            with control_dependencies(checks):
                return tf.image.convert_image_dtype(apply("DecodeJpeg", contents, channels=channels), dtype)

        return tf.cond(is_jpeg(contents), as_jpeg, png_or_more, name="cond_jpeg")
