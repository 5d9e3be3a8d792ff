"""tf.contrib.ffmpeg: sound and film, read by the program `ffmpeg` where it is installed. WAV files are written without it."""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from everflow.api import internal, public
from everflow.errors import invalid_argument, unavailable, unknown
from everflow.graph.constants import constant_value
from everflow.graph.operation import Operation
from everflow.io.wav import wav_file
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, generated, not_differentiable, op
from everflow.platform import logging

_FORMATS = ("mp3", "mp4", "ogg", "wav")
# How much of a file ffmpeg looks at to find its streams.
_PROBED = ("-probesize", "5000000")


def _text(value: Any) -> str:
    return (value.item() if isinstance(value, np.ndarray) else value).decode("utf-8", "replace")


def _scalars(values: dict[str, Any]) -> None:
    for name, value in values.items():
        if np.ndim(value):
            raise invalid_argument(f"{name} must be a rank-0 tensor but got shape [{','.join(map(str, np.shape(value)))}]")


def _positive(name: str, value: int) -> int:
    if value <= 0:
        raise invalid_argument(f"{name} must be positive, but got: {value}")
    return value


def _known_format(name: str) -> str:
    if name.lower() not in _FORMATS:
        raise invalid_argument(f'file_format must be one of {{{", ".join(_FORMATS)}}}, but was: "{name.lower()}"')
    return name.lower()


def _converted(contents: Any, suffix: str, before: Iterable[str], after: Iterable[str], listen: bool) -> tuple[bytes, str] | None:
    """What ffmpeg makes of a file, and what it said if we listen; None, with a word in the log, where it fails."""
    program = shutil.which("ffmpeg")
    if program is None:
        raise unavailable("FFmpeg must be installed to run this op. FFmpeg can be found at http://www.ffmpeg.org.")
    with tempfile.TemporaryDirectory() as folder:
        given, made = pathlib.Path(folder, f"given{suffix}"), pathlib.Path(folder, "made.raw")
        given.write_bytes(contents.item() if isinstance(contents, np.ndarray) else contents)
        command = [program, "-nostats", "-nostdin", *before, "-i", str(given), *after, "-y", str(made)]
        ended = subprocess.run(command, stderr=subprocess.PIPE if listen else None, check=False)
        if ended.returncode:
            logging.error("Ffmpeg failed with error 'FFmpeg execution failed: %d'. Returning empty tensor.", ended.returncode)
            return None
        data = made.read_bytes() if made.exists() else b""
    if not data:
        raise unknown("No output created by FFmpeg.")
    return data, ended.stderr.decode("utf-8", "replace") if listen else ""


def _sound(contents: Any, file_format: str, rate: int, channels: int, stream: str) -> Any:
    found = _converted(
        contents,
        f".{file_format}",
        before=("-f", file_format, *_PROBED),
        # No tags, pictures or subtitles: samples of the first sound, in 16 bits.
        after=(
            *("-loglevel", "error", "-hide_banner", "-map_metadata", "-1", "-vn", "-sn"),
            *("-ac:a:0", str(channels), "-ar:a:0", str(rate), "-codec:a:0", "pcm_s16le", "-sample_fmt", "s16", "-f", "s16le"),
            *(("-map", f"0:{stream}") if stream else ()),
        ),
        listen=False,
    )
    if found is None:
        return torch.empty(0, 0)
    samples = np.frombuffer(found[0], "<i2")
    if len(samples) % channels:
        raise unknown("FFmpeg created non-integer number of audio frames.")
    return torch.from_numpy((samples.reshape(-1, channels) / 32767.0).astype(np.float32))


def _decode_audio_v2(node: Node) -> Callable[..., Any]:
    stream = node.attr("stream")

    def run(contents: Any, file_format: Any, samples_per_second: Any, channel_count: Any) -> Any:
        _scalars(
            {"contents": contents, "file_format": file_format, "samples_per_second": samples_per_second, "channel_count": channel_count}
        )
        known = _known_format(_text(file_format))
        rate = _positive("samples_per_second", int(samples_per_second))
        return _sound(contents, known, rate, _positive("channel_count", int(channel_count)), stream)

    return run


def _decode_audio_v2_shape(o: Operation) -> Any:
    channels = constant_value(o.inputs[3])
    if channels is None:
        return (None, None)
    if int(channels.flat[0]) <= 0:
        raise ValueError(f"channel_count must be positive, but got: {int(channels.flat[0])}")
    return (None, int(channels.flat[0]))


def _decode_audio(node: Node) -> Callable[..., Any]:
    known, rate, channels = _known_format(node.attr("file_format")), node.attr("samples_per_second"), node.attr("channel_count")
    if channels <= 0:
        raise invalid_argument("channel_count must be > 0.")
    _positive("samples_per_second", rate)

    def run(contents: Any) -> Any:
        if np.ndim(contents):
            raise invalid_argument(f"contents must be scalar but got shape [{','.join(map(str, np.shape(contents)))}]")
        return _sound(contents, known, rate, channels, "")

    return run


def _decode_video(node: Node) -> Callable[..., Any]:
    def run(contents: Any) -> Any:
        _scalars({"contents": contents})
        found = _converted(
            contents,
            "",
            before=_PROBED,
            after=("-f", "image2pipe", "-loglevel", "info", "-hide_banner", "-vcodec", "rawvideo", "-pix_fmt", "rgb24"),
            listen=True,
        )
        if found is None:
            return torch.empty(0, 0, dtype=torch.uint8)
        data, told = found
        # "Stream #0:0: Video: rawvideo, rgb24(pc), 640x360 [SAR 1:1], ..." of the output, and in the end "frame=  166 ...".
        size = re.search(r"\nOutput #.*?, rgb24(?:\([^)]*\))?, (\d+)x(\d+)", told, re.DOTALL)
        width, height = map(int, size.groups()) if size else (0, 0)
        frames = int((re.findall(r"frame= *(\d+)", told) or ["0"])[-1])
        if not (frames and height and width):
            raise unknown(f"Not enough video info returned by FFmpeg [{frames}, {height}, {width}, 3]")
        if len(data) != frames * height * width * 3:
            raise unknown(f"Output created by FFmpeg [{len(data)}] does not match description [{frames}, {height}, {width}, 3]")
        return torch.frombuffer(bytearray(data), dtype=torch.uint8).reshape(frames, height, width, 3)

    return run


def _encoded(audio: Any, rate: int) -> Any:
    # The fraction is cut off, and what is louder than 1 comes out at the other end, as in TensorFlow.
    with np.errstate(invalid="ignore"):
        samples = (audio.cpu().numpy() * np.float32(32767)).astype(np.int32).astype("<i2")
    result: np.ndarray = np.empty((), dtype=object)
    result[()] = wav_file(samples, rate)
    return result


def _encode_audio_v2(node: Node) -> Callable[..., Any]:
    def run(audio: Any, file_format: Any, samples_per_second: Any, bits_per_second: Any) -> Any:
        if audio.ndim != 2:
            raise invalid_argument(f"sampled_audio must be a rank-2 tensor but got shape [{','.join(map(str, audio.shape))}]")
        _scalars({"file_format": file_format, "samples_per_second": samples_per_second, "bits_per_second": bits_per_second})
        if _text(file_format).lower() != "wav":
            raise invalid_argument(f'file_format must be "wav", but got: {_text(file_format).lower()}')
        rate = _positive("samples_per_second", int(samples_per_second))
        _positive("bits_per_second", int(bits_per_second))
        return _encoded(audio, rate)

    return run


def _encode_audio(node: Node) -> Callable[..., Any]:
    rate = node.attr("samples_per_second")
    if node.attr("file_format").lower() != "wav":
        raise invalid_argument('file_format arg must be "wav".')
    if rate <= 0:
        raise invalid_argument("samples_per_second must be > 0.")

    def run(audio: Any) -> Any:
        if audio.ndim != 2:
            raise invalid_argument(f"sampled_audio must be a rank 2 tensor but got shape [{','.join(map(str, audio.shape))}]")
        return _encoded(audio, rate)

    return run


op("DecodeAudioV2", kernel=_decode_audio_v2, shape=_decode_audio_v2_shape, gradient=not_differentiable)
op("DecodeAudio", kernel=_decode_audio, shape=lambda o: (None, o.attr("channel_count")), gradient=not_differentiable)
op("DecodeVideo", kernel=_decode_video, shape=lambda o: (None, None, None, None), gradient=not_differentiable)
op("EncodeAudioV2", kernel=_encode_audio_v2, shape=lambda o: (), gradient=not_differentiable)
op("EncodeAudio", kernel=_encode_audio, shape=lambda o: (), gradient=not_differentiable)

internal("contrib.ffmpeg.ops.gen_decode_audio_op_py.decode_audio")(generated("DecodeAudio"))
internal("contrib.ffmpeg.ops.gen_decode_audio_op_py.decode_audio_v2")(generated("DecodeAudioV2"))
internal("contrib.ffmpeg.ops.gen_decode_video_op_py.decode_video")(generated("DecodeVideo"))
internal("contrib.ffmpeg.ops.gen_encode_audio_op_py.encode_audio")(generated("EncodeAudio"))
internal("contrib.ffmpeg.ops.gen_encode_audio_op_py.encode_audio_v2")(generated("EncodeAudioV2"))


@public("contrib.ffmpeg.decode_audio")
def decode_audio(
    contents: Any, file_format: Any = None, samples_per_second: Any = None, channel_count: Any = None, stream: str | None = None
) -> Any:
    """The samples of a sound (mp3, mp4, ogg or wav), [time, channels], between -1 and 1, at this rate and with so many channels.

    A file has a choice of streams: "0" is its first one. What ffmpeg can't read becomes an empty tensor."""
    return apply("DecodeAudioV2", contents, file_format, samples_per_second, channel_count, stream=stream or "")


@public("contrib.ffmpeg.encode_audio")
def encode_audio(audio: Any, file_format: Any = None, samples_per_second: Any = None) -> Any:
    """A file ("wav") with these samples, [time, channels], between -1 and 1."""
    return apply("EncodeAudioV2", audio, file_format, samples_per_second, 192000)


@public("contrib.ffmpeg.decode_video")
def decode_video(contents: Any) -> Any:
    """The pictures of a film, [frames, height, width, 3]. What ffmpeg can't read becomes an empty tensor."""
    return apply("DecodeVideo", contents)
