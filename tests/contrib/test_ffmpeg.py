"""tf.contrib.ffmpeg, with a program in ffmpeg's place that writes down how it was called, says and makes what it is told."""

import json
import pathlib
import stat
import struct
import sys

import numpy as np
import pytest

import everflow as tf
from everflow.ops.core.registry import generated
from running import run

STAND_IN = """#!{python}
import json, os, pathlib, shutil, sys
here = pathlib.Path(__file__).parent
given = sys.argv[sys.argv.index("-i") + 1]
(here / "called.json").write_text(json.dumps([sys.argv[1:], open(given, "rb").read().decode()]))
sys.stderr.write((here / "says").read_text())
shutil.copy(here / "makes", sys.argv[-1])
sys.exit(int((here / "ends").read_text()))
"""
SAYS = """Input #0, mov, from 'given':
  Stream #0:0: Video: h264, yuv420p, 64x32, 30 fps
Stream mapping:
  Stream #0:0 -> #0:0 (h264 (native) -> rawvideo (native))
Output #0, image2pipe, to 'made.raw':
    Stream #0:0: Video: rawvideo (RGB[24] / 0x18424752), {format}, 4x2 [SAR 1:1 DAR 16:9], q=2-31
frame=    1 fps=0.0\rframe=  {frames} fps=0.0 q=-0.0 Lsize= 1kB
"""


class StandIn:
    """The program and its doings."""

    def __init__(self, folder):
        self.folder = folder
        program = folder / "ffmpeg"
        program.write_text(STAND_IN.format(python=sys.executable))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        self.does(b"")

    def does(self, makes, says="", ends=0):
        (self.folder / "makes").write_bytes(makes)
        (self.folder / "says").write_text(says)
        (self.folder / "ends").write_text(str(ends))

    def called(self):
        return json.loads((self.folder / "called.json").read_text())


@pytest.fixture
def ffmpeg(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    return StandIn(tmp_path)


def samples(*values):
    return struct.pack(f"<{len(values)}h", *values)


def test_sound_is_read_by_ffmpeg(ffmpeg):
    ffmpeg.does(samples(32767, -32767, 0, 16384))
    sound = tf.contrib.ffmpeg.decode_audio(b"song", "MP3", 20000, 2)
    assert sound.op.type == "DecodeAudioV2" and sound.shape.as_list() == [None, 2]
    np.testing.assert_array_equal(run(sound), np.array([[1, -1], [0, 16384 / 32767]], np.float32))
    arguments, contents = ffmpeg.called()
    assert contents == "song"
    text = " ".join(arguments)
    assert "-f mp3 -probesize 5000000 -i " in text and ".mp3 -loglevel error" in text
    for wanted in ("-vn", "-sn", "-ac:a:0 2", "-ar:a:0 20000", "-codec:a:0 pcm_s16le", "-f s16le", "-nostdin", "-y"):
        assert f" {wanted} " in f" {text} "
    assert "-map " not in text
    # Neither file is left behind.
    assert not pathlib.Path(arguments[-1]).exists() and not pathlib.Path(arguments[arguments.index("-i") + 1]).exists()


def test_a_stream_is_chosen(ffmpeg):
    ffmpeg.does(samples(1))
    run(tf.contrib.ffmpeg.decode_audio(b"film", "mp4", tf.constant(8000), tf.placeholder_with_default(1, []), stream="1"))
    assert "-map 0:1 -y" in " ".join(ffmpeg.called()[0])


def test_what_ffmpeg_cannot_read_is_empty(ffmpeg):
    ffmpeg.does(b"", "no such thing\n", 1)
    assert run(tf.contrib.ffmpeg.decode_audio(b"abc", "ogg", 8000, 2)).shape == (0, 0)
    found = run(tf.contrib.ffmpeg.decode_video(b"abc"))
    assert found.shape == (0, 0) and found.dtype == np.uint8


def test_what_ffmpeg_makes_must_be_whole(ffmpeg):
    with pytest.raises(tf.errors.UnknownError, match="No output created by FFmpeg"):
        run(tf.contrib.ffmpeg.decode_audio(b"abc", "wav", 8000, 2))
    ffmpeg.does(samples(1, 2, 3))
    with pytest.raises(tf.errors.UnknownError, match="FFmpeg created non-integer number of audio frames"):
        run(tf.contrib.ffmpeg.decode_audio(b"abc", "wav", 8000, 2))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (([b"a"], "mp3", 1, 1), r"contents must be a rank-0 tensor but got shape \[1\]"),
        ((b"a", ["mp3"], 1, 1), r"file_format must be a rank-0 tensor but got shape \[1\]"),
        ((b"a", "flac", 1, 1), 'file_format must be one of {mp3, mp4, ogg, wav}, but was: "flac"'),
        ((b"a", "mp3", -3, 1), "samples_per_second must be positive, but got: -3"),
        ((b"a", "mp3", 1, tf.placeholder_with_default), "channel_count must be positive, but got: 0"),
    ],
)
def test_what_sound_is_wanted_must_be_told_rightly(ffmpeg, arguments, error):
    arguments = [argument(0, []) if callable(argument) else argument for argument in arguments]
    with pytest.raises(tf.errors.InvalidArgumentError, match=error):
        run(tf.contrib.ffmpeg.decode_audio(*arguments))


def test_constant_counts_of_channels_are_looked_at_early():
    with pytest.raises(ValueError, match="channel_count must be positive, but got: 0"):
        tf.contrib.ffmpeg.decode_audio(b"a", "mp3", 1, 0)


def test_the_earlier_op_of_sound(ffmpeg):
    ffmpeg.does(samples(32767, 0))
    sound = generated("DecodeAudio")
    assert run(sound(b"a", "wav", 8000, 1)).tolist() == [[1], [0]]
    assert "-ar:a:0 8000" in " ".join(ffmpeg.called()[0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="channel_count must be > 0"):
        run(sound(b"a", "wav", 8000, 0))


@pytest.mark.parametrize("form", ["rgb24", "rgb24(pc, gbr/bt709/bt709, progressive)"])
def test_films_are_read_by_ffmpeg(ffmpeg, form):
    pictures = bytes(range(3 * 2 * 4 * 3))
    ffmpeg.does(pictures, SAYS.format(format=form, frames=3))
    film = tf.contrib.ffmpeg.decode_video(b"film")
    assert film.shape.as_list() == [None] * 4
    found = run(film)
    assert found.shape == (3, 2, 4, 3) and found.dtype == np.uint8 and found.tobytes() == pictures
    text = " ".join(ffmpeg.called()[0])
    assert "-f image2pipe -loglevel info -hide_banner -vcodec rawvideo -pix_fmt rgb24 -y" in text


def test_films_must_be_what_ffmpeg_says(ffmpeg):
    ffmpeg.does(b"abc", SAYS.format(format="rgb24", frames=3))
    with pytest.raises(tf.errors.UnknownError, match=r"Output created by FFmpeg \[3\] does not match description \[3, 2, 4, 3\]"):
        run(tf.contrib.ffmpeg.decode_video(b"film"))
    ffmpeg.does(b"abc", "frame= 7")
    with pytest.raises(tf.errors.UnknownError, match=r"Not enough video info returned by FFmpeg \[7, 0, 0, 3\]"):
        run(tf.contrib.ffmpeg.decode_video(b"film"))


def test_without_ffmpeg_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    for reading in (lambda: tf.contrib.ffmpeg.decode_audio(b"a", "mp3", 1, 1), lambda: tf.contrib.ffmpeg.decode_video(b"a")):
        with pytest.raises(tf.errors.UnavailableError, match="FFmpeg must be installed to run this op"):
            run(reading())


LOUD = np.array([[0.5, -0.5], [1.5, -1.5], [0.25001, 1e9]], np.float32)
# The file that 1.15.5 writes.
FILE = (
    b"RIFF0\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x02\x00@\x1f\x00\x00\x00}\x00\x00\x04\x00\x10\x00data\x0c\x00\x00\x00"
    b"\xff?\x01\xc0\xfe\xbf\x02@\x00 \x00\x00"
)


def test_sound_is_written_without_ffmpeg(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run(tf.contrib.ffmpeg.encode_audio(LOUD, "WAV", 8000)) == FILE
    assert run(generated("EncodeAudio")(LOUD, "wav", 8000)) == FILE


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((LOUD[0], "wav", 8000), r"sampled_audio must be a rank-2 tensor but got shape \[2\]"),
        ((LOUD, "mp3", 8000), 'file_format must be "wav", but got: mp3'),
        ((LOUD, "wav", 0), "samples_per_second must be positive, but got: 0"),
        ((LOUD, "wav", [8000]), r"samples_per_second must be a rank-0 tensor but got shape \[1\]"),
    ],
)
def test_only_wav_files_are_written(arguments, error):
    with pytest.raises(tf.errors.InvalidArgumentError, match=error):
        run(tf.contrib.ffmpeg.encode_audio(*arguments))


def test_the_earlier_op_that_writes_sound_looks_at_its_attributes():
    for arguments, error in (((LOUD, "mp3", 8000), "file_format arg must be"), ((LOUD, "wav", 0), "samples_per_second must be > 0")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=error):
            run(generated("EncodeAudio")(*arguments))
