"""tf.compat.v2.summary: what its functions leave for TensorBoard's pages."""

import io
import pathlib
import wave

import numpy as np
import pytest
from PIL import Image

import everflow as tf

summary = tf.compat.v2.summary


def written(folder):
    """{tag: (plugin, content, values)} of the only file in a folder."""
    (file,) = pathlib.Path(folder).iterdir()
    values = [value for event in tf.train.summary_iterator(str(file)) for value in event.summary.value]
    return {v.tag: (v.metadata.plugin_data.plugin_name, v.metadata.plugin_data.content, tf.make_ndarray(v.tensor)) for v in values}


@pytest.fixture
def write(tmp_path, eager):
    def written_by(function):
        with summary.create_file_writer(str(tmp_path)).as_default() as writer:
            assert function().numpy()
            writer.flush()
        ((_, found),) = written(tmp_path).items()
        return found

    return written_by


def test_numbers(write):
    plugin, content, value = write(lambda: summary.scalar("loss", 3, step=1))
    assert (plugin, content, value.dtype, value) == ("scalars", b"", "float32", 3)


def test_numbers_have_no_dimensions(eager):
    with pytest.raises(ValueError, match=r"^Expected scalar shape, saw shape: \(2,\).$"):
        summary.scalar("loss", [1.0, 2.0], step=1)


@pytest.mark.parametrize(
    "data, buckets, rows",
    [
        ([1, 2, 2, 5], 2, [[1, 3, 3], [3, 5, 1]]),
        (np.arange(10), 3, [[0, 3, 3], [3, 6, 3], [6, 9, 4]]),
        ([2.0, 2.0], 5, [[1.5, 2.5, 2]]),
        ([], 5, []),
    ],
)
def test_histograms(write, data, buckets, rows):
    plugin, _, value = write(lambda: summary.histogram("h", data, step=1, buckets=buckets))
    assert (plugin, value.dtype, value.shape[1], value.tolist()) == ("histograms", "float64", 3, rows)


def test_histograms_have_thirty_buckets(write):
    value = write(lambda: summary.histogram("h", np.linspace(0, 1, 100), step=1))[2]
    assert value.shape == (30, 3) and value[:, 2].sum() == 100


def test_images(write):
    data = np.random.RandomState(0).randint(0, 255, (5, 4, 3, 3)).astype("uint8")
    plugin, _, (width, height, *files) = write(lambda: summary.image("i", data, step=1, max_outputs=2))
    assert (plugin, width, height, len(files)) == ("images", b"3", b"4", 2)
    np.testing.assert_array_equal(np.array(Image.open(io.BytesIO(files[1]))), data[1])


def test_texts(write):
    plugin, _, value = write(lambda: summary.text("t", [["a", "b"]], step=1))
    assert (plugin, value.tolist()) == ("text", [[b"a", b"b"]])


def test_audio(write):
    plugin, content, value = write(lambda: summary.audio("a", np.zeros((5, 10, 2), "float32"), 8000, step=1))
    assert (plugin, content, value.shape, value[:, 1].tolist()) == ("audio", b"\x10\x0b", (3, 2), [b""] * 3)
    clip = wave.open(io.BytesIO(value[0, 0]))
    assert (clip.getnframes(), clip.getnchannels(), clip.getframerate()) == (10, 2, 8000)
    with pytest.raises(ValueError, match="^Unknown encoding: 'mp3'$"):
        summary.audio("a", np.zeros((5, 10, 2), "float32"), 8000, step=1, encoding="mp3")


def test_functions_and_graphs_write_too(tmp_path):
    with summary.create_file_writer(str(tmp_path)).as_default() as writer:
        x = tf.placeholder(tf.float32, [None])
        ops = [summary.scalar("s", tf.reduce_sum(x), step=1), summary.histogram("h", x, step=1, buckets=2)]
        with tf.Session() as session:
            session.run(writer.init())
            session.run(ops, {x: [0.0, 2.0, 1.0]})
            session.run(writer.flush())
    found = written(tmp_path)
    assert found["s"][2] == 3 and found["h"][2].tolist() == [[0, 1, 1], [1, 2, 2]]


def test_without_a_writer_nothing_is_written(eager):
    assert not summary.scalar("s", 1.0, step=1).numpy()
