"""`imghdr`: which format an image has, by its first bytes."""

from __future__ import annotations

import os
from typing import Any

_BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": "png",
    b"GIF87a": "gif",
    b"GIF89a": "gif",
    b"MM\0*": "tiff",
    b"II*\0": "tiff",
    b"BM": "bmp",
    b"\x01\xda": "rgb",
    b"\x59\xa6\x6a\x95": "rast",
    b"#define ": "xbm",
    b"\x76\x2f\x31\x01": "exr",
    b"P1": "pbm",
    b"P4": "pbm",
    b"P2": "pgm",
    b"P5": "pgm",
    b"P3": "ppm",
    b"P6": "ppm",
}


def what(file: Any, h: bytes | None = None) -> str | None:
    """The format of a file, of an open one, or of bytes; None where it is none that is known."""
    if h is None:
        if isinstance(file, (str, os.PathLike)):
            with open(file, "rb") as opened:
                h = opened.read(32)
        else:
            where = file.tell()
            h = file.read(32)
            file.seek(where)
    if h[6:10] in (b"JFIF", b"Exif") or h[:4] == b"\xff\xd8\xff\xdb":
        return "jpeg"
    if h[:4] == b"RIFF" and h[8:12] == b"WEBP":
        return "webp"
    return next((kind for beginning, kind in _BEGINNINGS.items() if h.startswith(beginning)), None)
