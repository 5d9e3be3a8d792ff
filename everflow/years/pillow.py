"""What Pillow dropped since 6."""

from __future__ import annotations

import importlib
from typing import Any

from everflow.years.shims import methods, names


def _of(name: str) -> Any:
    return lambda: getattr(importlib.import_module("PIL.Image"), name)


def _version() -> str:
    import PIL

    return PIL.__version__


names("PIL", "Pillow 9", PILLOW_VERSION=_version, VERSION=lambda: "1.1.7")
names(
    "PIL.Image",
    "Pillow 10",
    ANTIALIAS=_of("LANCZOS"),
    LINEAR=_of("BILINEAR"),
    CUBIC=_of("BICUBIC"),
    PILLOW_VERSION=_version,
    NORMAL=lambda: 0,
    SEQUENCE=lambda: 1,
    CONTAINER=lambda: 2,
    isImageType=lambda: lambda t: hasattr(t, "im"),
)


def _size(box: Any) -> tuple[int, int]:
    """Width and height from the origin, in whole pixels, as before."""
    return int(box[2]), int(box[3])


def _textsize(draw: Any, text: Any, font: Any = None, spacing: float = 4, **others: Any) -> tuple[int, int]:
    return _size(draw.textbbox((0, 0), text, font, spacing=spacing, **others))


def _getsize_multiline(
    font: Any, text: Any, direction: Any = None, spacing: float = 4, features: Any = None, **others: Any
) -> tuple[int, int]:
    from PIL import Image, ImageDraw

    draw = ImageDraw.Draw(Image.new("L", (1, 1)))
    return _size(draw.multiline_textbbox((0, 0), text, font, spacing=spacing, direction=direction, features=features, **others))


methods("PIL.ImageDraw", "ImageDraw", "Pillow 10", textsize=_textsize, multiline_textsize=_textsize)
for _font in ("FreeTypeFont", "ImageFont", "TransposedFont"):
    methods("PIL.ImageFont", _font, "Pillow 10", getsize=lambda font, text, *args, **others: _size(font.getbbox(text, *args, **others)))
methods(
    "PIL.ImageFont",
    "FreeTypeFont",
    "Pillow 10",
    getsize_multiline=_getsize_multiline,
    getoffset=lambda font, text: tuple(font.getbbox(text)[:2]),
)
