"""WAV files of 16-bit samples."""

from __future__ import annotations

import struct

import numpy as np

from everflow.errors import invalid_argument


def decode_wav(contents: bytes) -> tuple[np.ndarray, int]:
    """Samples between -1 and 1, [samples, channels], and the sample rate."""
    if contents[:4] != b"RIFF":
        raise invalid_argument("Header mismatch: Expected RIFF but found " + contents[:4].decode("latin-1"))
    if contents[8:12] != b"WAVE":
        raise invalid_argument("Header mismatch: Expected WAVE but found " + contents[8:12].decode("latin-1"))
    if contents[12:16] != b"fmt ":
        raise invalid_argument("Header mismatch: Expected fmt  but found " + contents[12:16].decode("latin-1"))
    size, kind, channels, rate, byte_rate, frame, bits = struct.unpack_from("<IHHIIHH", contents, 16)
    if size not in (16, 18):
        raise invalid_argument(f"Bad size for WAV: Expected 16 or 18, but got{size}")
    if kind != 1:
        raise invalid_argument(f"Bad audio format for WAV: Expected 1 (PCM), but got{kind}")
    if bits != 16:
        raise invalid_argument(f"Can only read 16-bit WAV files, but received {bits}")
    if byte_rate != rate * channels * 2:
        raise invalid_argument(f"Bad bytes per second in WAV header: Expected {rate * channels * 2} but got {byte_rate}")
    if frame != channels * 2:
        raise invalid_argument(f"Bad bytes per sample in WAV header: Expected {channels * 2} but got {frame}")
    position = 20 + size
    while position + 8 <= len(contents):
        (name,) = struct.unpack_from("4s", contents, position)
        (length,) = struct.unpack_from("<I", contents, position + 4)
        position += 8
        if name == b"data":
            if position + length > len(contents):
                raise invalid_argument(f"Data too short when trying to read string of {length} bytes")
            samples = np.frombuffer(contents, "<i2", length // frame * channels, position)
            return samples.reshape(-1, channels).astype(np.float32) / np.float32(32768), rate
        position += length
    raise invalid_argument("No data chunk found in WAV")


def encode_wav(audio: np.ndarray, rate: int) -> bytes:
    """The WAV file of samples between -1 and 1, [samples, channels]."""
    scaled = audio * np.float32(32768)
    # Halves are rounded away from zero.
    rounded = np.trunc(scaled + np.copysign(np.float32(0.5), scaled))
    return wav_file(np.clip(rounded, -32768, 32767).astype("<i2"), rate)


def wav_file(samples: np.ndarray, rate: int) -> bytes:
    """The file of samples in 16 bits, [samples, channels]."""
    data, channels = samples.tobytes(), samples.shape[1]
    header = struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        b"RIFF",
        36 + len(data),
        b"WAVE",
        b"fmt ",
        16,
        1,
        channels,
        rate,
        rate * channels * 2,
        channels * 2,
        16,
        b"data",
        len(data),
    )
    return header + data
