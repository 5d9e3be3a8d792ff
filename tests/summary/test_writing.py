"""tf.compat.v2.summary: tensors under tags, at steps, in files of their own."""

import glob

import pytest

import everflow as tf
from everflow import errors, internals
from everflow.eager.context import eager_mode
from everflow.summary import writing


def events(folder):
    return [event for path in sorted(glob.glob(f"{folder}/*")) for event in tf.train.summary_iterator(path)]


@pytest.fixture(autouse=True)
def no_step():
    yield
    writing.set_step(None)


def test_values_are_written_at_the_step_that_is_given_or_set(tmp_path):
    with eager_mode(), writing.create_file_writer(tmp_path).as_default():
        assert writing.write("a/b c", [[1, 2]], step=3)
        writing.set_step(7)
        assert writing.write("later", "text")
    first, second = events(tmp_path)[1:]
    assert (first.step, first.summary.value[0].tag, tf.make_ndarray(first.summary.value[0].tensor).tolist()) == (3, "a/b c", [[1, 2]])
    assert (second.step, tf.make_ndarray(second.summary.value[0].tensor).item()) == (7, b"text")


def test_nothing_is_written_without_a_writer_or_when_recording_is_off(tmp_path):
    with eager_mode():
        assert not writing.write("tag", 1, step=0)
        with writing.create_file_writer(tmp_path).as_default(), tf.compat.v2.summary.record_if(False):
            assert not writing.write("tag", 1, step=0)
        with writing.create_file_writer(tmp_path).as_default(), pytest.raises(ValueError, match="No step set"):
            writing.write("tag", 1)
    assert [event.WhichOneof("what") for event in events(tmp_path)] == ["file_version"] * 2


def test_graphs_write_too(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        step = tf.Variable(5, dtype=tf.int64)
        writer = writing.create_file_writer(tmp_path)
        with writer.as_default():
            written = writing.write("tag", 1.5, step=step)
        sess.run([step.initializer, writer.init()])
        assert sess.run(written)
        sess.run([step.assign_add(1), writer.close()])
    assert [event.step for event in events(tmp_path)] == [0, 5]


def test_bytes_of_summaries_become_one_event(tmp_path):
    parts = [tf.Summary(value=[tf.Summary.Value(tag=tag, simple_value=1)]).SerializeToString() for tag in "ab"]
    with eager_mode(), writing.create_file_writer(tmp_path).as_default():
        assert writing.write_raw_pb(parts, step=1)
        with pytest.raises(errors.DataLossError, match="at index 0"):
            writing.write_raw_pb("no summary", step=1)
    assert [value.tag for value in events(tmp_path)[1].summary.value] == ["a", "b"]


def test_a_closed_writer_is_not_used_again(tmp_path):
    with eager_mode():
        writer = writing.create_file_writer(tmp_path)
        writer.close()
        writer.close()
        writer.flush()
        for use in (writer.init, writer.set_as_default, writer.as_default().__enter__):
            with pytest.raises(RuntimeError, match="already closed"):
                use()


def test_what_a_forgotten_writer_held_is_in_its_file(tmp_path):
    with eager_mode():
        writer = writing.create_file_writer(tmp_path, max_queue=100)
        writer.set_as_default()
        writing.write("tag", 1, step=0)
        assert len(events(tmp_path)) == 1
        writing._state.writer = None
        del writer
    assert len(events(tmp_path)) == 2


def test_scopes_have_allowed_names_and_tags_the_given_ones():
    with tf.Graph().as_default(), tf.name_scope("around"), writing.summary_scope("a?b") as (tag, scope):
        assert (tag, scope) == ("around/a?b", "around/ab/")
        with writing.summary_scope(None, "other") as (tag, _):
            assert tag == "around/ab/other"


def test_characters_that_scopes_do_not_have_are_known():
    assert internals.module("python.ops.summary_ops_v2")._INVALID_SCOPE_CHARACTERS.sub("", "a b/c$-d_1.é") == "ab/c-d_1."
