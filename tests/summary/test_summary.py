"""Summaries of tensors, and the files that they go to."""

import glob
import os
import struct
import sys

import numpy as np
import pytest
from google.protobuf.message import DecodeError

import everflow as tf
from everflow.io.png import decode_png


def values_of(summary):
    with tf.Session() as session:
        return list(tf.Summary.FromString(session.run(summary)).value)


def test_scalars_are_tagged_by_their_scopes():
    with tf.Graph().as_default():
        with tf.name_scope("outer"):
            first, second = tf.summary.scalar("a loss", 1.5), tf.summary.scalar("b", 2, family="all")
        assert [(v.tag, v.simple_value) for s in (first, second) for v in values_of(s)] == [("outer/a_loss", 1.5), ("all/outer/all/b", 2)]
        assert tf.get_collection(tf.GraphKeys.SUMMARIES) == [first, second]
        assert [v.tag for v in values_of(tf.summary.merge_all())] == ["outer/a_loss", "all/outer/all/b"]
    with tf.Graph().as_default():
        assert tf.summary.merge_all() is None


def test_the_same_tag_twice_is_refused():
    summary = tf.summary.scalar("twice", 1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Duplicate tag"):
        values_of(tf.summary.merge([summary, summary]))


def test_histograms_count_into_growing_buckets():
    histogram = values_of(tf.summary.histogram("h", [1.0, 2.0, 2.0, -3.0, 0.0]))[0].histo
    assert (histogram.num, histogram.min, histogram.max, histogram.sum, histogram.sum_squares) == (5, -3, 2, 2, 18)
    counts = dict(zip(histogram.bucket_limit, histogram.bucket))
    assert [c for c in histogram.bucket if c] == [1, 1, 1, 2]
    limit = min(x for x, c in counts.items() if c == 2)
    assert 2 < limit < 2.2
    with pytest.raises(tf.errors.InvalidArgumentError, match="Nan in summary histogram for: h"):
        values_of(tf.summary.histogram("h", [np.nan]))


def test_images_are_scaled_and_what_is_not_finite_is_marked():
    image = values_of(tf.summary.image("i", np.float32([[[[0.5], [-1.0], [2.0], [np.nan]]]])))
    assert [v.tag for v in image] == ["i/image/0"]
    assert decode_png(image[0].image.encoded_image_string)[..., 0].tolist() == [[159, 64, 255, 255]]
    positive = values_of(tf.summary.image("p", np.float32([[[[0.5], [1.0], [2.0]]]]), max_outputs=1))[0]
    assert positive.tag == "p/image" and decode_png(positive.image.encoded_image_string)[..., 0].tolist() == [[63, 127, 255]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Tensor must be 4-D with last dim 1, 3, or 4"):
        values_of(tf.summary.image("x", tf.zeros([1, 2, 2, 5])))


def test_sounds_texts_and_tensors():
    sound = values_of(tf.summary.audio("s", np.float32([[[0.5], [-1.0], [2.0]]]), 44.0))[0].audio
    assert (sound.sample_rate, sound.num_channels, sound.length_frames) == (44, 1, 3)
    assert struct.unpack("<3h", sound.encoded_audio_string[-6:]) == (16384, -32768, 32767)
    slow = values_of(tf.summary.audio("s", np.float32([[[0.5]]]), 0.25))[0].audio
    assert struct.unpack("<I", slow.encoded_audio_string[24:28]) == (1,)
    text = values_of(tf.summary.text("t", tf.constant(["hello"])))[0]
    assert text.metadata.plugin_data.plugin_name == "text" and text.tensor.string_val == [b"hello"]
    tensor = values_of(tf.summary.tensor_summary("n", tf.constant([1, 2]), display_name="shown"))[0]
    assert tf.make_ndarray(tensor.tensor).tolist() == [1, 2] and tensor.metadata.display_name == "shown"


def events_in(folder):
    return [e for path in sorted(glob.glob(os.path.join(str(folder), "events.out.tfevents.*"))) for e in tf.train.summary_iterator(path)]


def test_files_hold_the_graph_and_summaries(tmp_path):
    with tf.Graph().as_default() as graph:
        tf.constant(1.0, name="c")
        with tf.summary.FileWriter(tmp_path, graph, filename_suffix=".mine") as writer:
            writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="x", simple_value=2)]).SerializeToString(), 7)
            writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), 8)
    version, of_graph, meta, summary, log = events_in(tmp_path)
    assert version.file_version == "brain.Event:2"
    assert tf.GraphDef.FromString(of_graph.graph_def).node[0].name == "c" and tf.MetaGraphDef.FromString(meta.meta_graph_def).graph_def.node
    assert summary.step == 7 and summary.summary.value[0].simple_value == 2
    assert log.step == 8 and log.session_log.status == tf.SessionLog.START
    assert glob.glob(os.path.join(str(tmp_path), "*.mine"))


def test_metadata_are_written_once_for_a_tag(tmp_path):
    with tf.summary.FileWriter(tmp_path) as writer:
        for step in range(2):
            metadata = tf.SummaryMetadata(display_name="d")
            writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="x", simple_value=2, metadata=metadata)]), step)
    assert [e.summary.value[0].HasField("metadata") for e in events_in(tmp_path)[1:]] == [True, False]


def test_what_is_flushed_can_be_read_and_closed_writers_warn(tmp_path):
    writer = tf.summary.FileWriter(tmp_path)
    writer.add_event(tf.Event(step=1))
    writer.flush()
    assert [e.step for e in events_in(tmp_path)] == [0, 1]
    writer.close()
    with pytest.warns(UserWarning, match="closed FileWriter"):
        writer.add_event(tf.Event(step=2))


def test_a_folder_has_one_cached_writer(tmp_path):
    first = tf.summary.FileWriterCache.get(str(tmp_path))
    assert tf.summary.FileWriterCache.get(str(tmp_path)) is first
    tf.summary.FileWriterCache.clear()
    assert tf.summary.FileWriterCache.get(str(tmp_path)) is not first
    tf.summary.FileWriterCache.clear()


def test_a_graph_is_a_graph(tmp_path):
    with pytest.raises(TypeError, match="must be an instance of `Graph`"):
        tf.summary.FileWriter(tmp_path, "a text")
    with pytest.raises(ValueError, match="not both"):
        tf.summary.FileWriter(tmp_path, tf.Graph(), graph_def=tf.GraphDef())


def test_histograms_count_what_lies_on_a_limit_above_it():
    limits = [1e-12]
    while limits[-1] < 1e20:
        limits.append(limits[-1] * 1.1)
    limits = [sys.float_info.max, *limits[-2::-1]]
    limits = np.array([-x for x in limits] + [0.0] + limits[::-1])
    rng = np.random.RandomState(0)
    values = np.concatenate([limits[100:-100:7], np.nextafter(limits[100:-100:5], 0), rng.randn(200), [0.0, -0.0, 1e300, -1e300]])
    found = values_of(tf.summary.histogram("h", tf.constant(values, tf.float64)))[0].histo
    places = np.minimum(np.searchsorted(limits, values, side="right"), len(limits) - 1)
    filled = np.unique(places)
    assert [x for x, n in zip(found.bucket_limit, found.bucket) if n] == limits[filled].tolist()
    assert [n for n in found.bucket if n] == np.bincount(places)[filled].tolist()
    assert (found.num, found.min, found.max) == (values.size, values.min(), values.max())


def test_histograms_of_nothing_and_of_no_numbers():
    empty = values_of(tf.summary.histogram("h", np.zeros(0, np.float32)))[0].histo
    assert (list(empty.bucket_limit), list(empty.bucket), empty.num) == ([sys.float_info.max], [0.0], 0)
    for bad, what in ((np.nan, "Nan"), (-np.inf, "Infinity")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"{what} in summary histogram"):
            values_of(tf.summary.histogram("h", [1.0, bad]))


def test_large_images_are_filtered_and_come_back(tmp_path):
    pixels = np.add.outer(np.arange(60), 2 * np.arange(50)).astype(np.uint8)[None, :, :, None].repeat(3, 3)
    encoded = values_of(tf.summary.image("i", tf.constant(pixels)))[0].image.encoded_image_string
    assert len(encoded) < pixels.size / 10
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(tf.image.decode_png(encoded)), pixels[0])


def test_what_is_no_summary_is_refused(tmp_path):
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse one of the summary inputs"):
        sess.run(tf.summary.merge([tf.constant(b"\x0a\x7fno")]))
    with tf.summary.FileWriter(str(tmp_path)) as writer, pytest.raises(DecodeError, match="Error parsing message"):
        writer.add_summary(b"\x0a\x7fno", 1)


def test_a_writer_that_nobody_closes_loses_nothing(tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path))
    for step in (-1, 5):
        writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=2.0)]), step)
    del writer
    events = [e for e in tf.train.summary_iterator(str(next(tmp_path.iterdir()))) if e.HasField("summary")]
    assert [(e.step, e.summary.value[0].simple_value) for e in events] == [(-1, 2.0), (5, 2.0)]
    assert all(e.wall_time > 1e9 for e in events)
