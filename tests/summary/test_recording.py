"""Summaries that are written as they are computed."""

import glob
import os

import pytest

import everflow as tf
from everflow.eager.context import eager_mode


def events_in(folder):
    return [e for path in sorted(glob.glob(os.path.join(str(folder), "events.out.tfevents.*"))) for e in tf.train.summary_iterator(path)]


def test_summaries_of_every_second_step_are_written(tmp_path):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        step = tf.train.get_or_create_global_step()
        with tf.contrib.summary.create_file_writer(str(tmp_path)).as_default():
            with tf.contrib.summary.record_summaries_every_n_global_steps(2):
                tf.contrib.summary.scalar("loss", 1.5 + tf.cast(step, tf.float32))
            with tf.contrib.summary.always_record_summaries():
                flush = tf.contrib.summary.flush()
            tf.contrib.summary.scalar("never", 1.0)
            session.run(tf.global_variables_initializer())
            tf.contrib.summary.initialize(graph)
        for _ in range(4):
            session.run(tf.contrib.summary.all_summary_ops())
            session.run(tf.assign_add(step, 1))
        session.run(flush)
    written = [(e.step, e.summary.value[0].tag, e.summary.value[0].simple_value) for e in events_in(tmp_path) if e.summary.value]
    assert written == [(0, "loss", 1.5), (2, "loss", 3.5)]


def test_without_a_writer_nothing_is_done():
    with tf.Graph().as_default():
        assert tf.contrib.summary.scalar("x", 1.0, step=1).type == "NoOp"
        with pytest.raises(RuntimeError, match="No default"):
            tf.contrib.summary.initialize()


def test_a_writer_must_be_opened(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.contrib.summary.create_file_writer(str(tmp_path)).as_default(), tf.contrib.summary.always_record_summaries():
            written = tf.contrib.summary.scalar("x", 1.0, step=1)
        with pytest.raises(tf.errors.NotFoundError, match="does not exist"):
            session.run(written)


def test_writers_of_a_session_share_the_file_of_a_folder(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        writers = [tf.summary.FileWriter(tmp_path, session=session) for _ in range(2)]
        for step, writer in enumerate(writers):
            writer.add_event(tf.Event(step=step + 1))
        writers[0].flush()
        assert [e.step for e in events_in(tmp_path)] == [0, 1, 2] and len(os.listdir(tmp_path)) == 1


def test_eager_summaries_are_written_at_once(tmp_path):
    with eager_mode():
        with tf.contrib.summary.create_file_writer(str(tmp_path)).as_default(), tf.contrib.summary.always_record_summaries():
            for step in (3, 4):
                tf.contrib.summary.scalar("x", step * 2.0, step=step)
        with pytest.raises(RuntimeError, match="not compatible with eager execution"):
            tf.summary.merge_all()
    assert [(e.step, e.summary.value[0].simple_value) for e in events_in(tmp_path)[1:]] == [(3, 6), (4, 8)]


@pytest.fixture
def opened(tmp_path):
    """A session in whose graph all summaries are written at once, and what tells (tag, value) of those that were."""
    summary = tf.contrib.summary
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.train.get_or_create_global_step().initializer)
        with summary.create_file_writer(str(tmp_path), max_queue=0).as_default(), summary.always_record_summaries():
            summary.initialize(session=session)
            yield session, lambda: [(v.tag, v.simple_value) for e in events_in(tmp_path) for v in e.summary.value]


def test_summaries_of_a_branch_are_written_when_it_is_taken(opened):
    session, written = opened

    def positive():
        tf.contrib.summary.scalar("a", 2.0)
        return tf.constant(1), tf.constant(2)

    holds = tf.placeholder(tf.bool)
    found = tf.cond(holds, positive, lambda: (tf.constant(3), tf.constant(4)))
    assert not tf.contrib.summary.all_summary_ops()
    assert session.run(found, {holds: False}) == (3, 4) and written() == []
    assert session.run(found[1], {holds: True}) == 2 and written() == [("cond/a", 2)]


def test_summaries_of_a_loop_are_written_in_each_round(opened):
    session, written = opened

    def body(i, squares):
        def later():
            tf.contrib.summary.scalar("i", tf.cast(i, tf.float32))
            return i * i

        return i + 1, squares.write(i, tf.cond(i > 0, later, lambda: 0))

    _, squares = tf.while_loop(lambda i, _: i < 3, body, [0, tf.TensorArray(tf.int32, 3)])
    assert session.run(squares.stack()).tolist() == [0, 1, 4]
    assert written() == [("while/cond/i", 1), ("while/cond/i", 2)]


def test_a_branch_that_only_writes_may_end_with_an_op(opened):
    session, written = opened
    taken = tf.cond(tf.placeholder_with_default(True, []), lambda: tf.contrib.summary.scalar("a", 2.0).op, tf.no_op)
    session.run(taken)
    assert written() == [("cond/a", 2)]


def test_whether_to_write_adds_nothing_to_tags(opened):
    session, written = opened
    with tf.name_scope("scope"), tf.contrib.summary.record_summaries_every_n_global_steps(1):
        tf.contrib.summary.scalar("a", 2.0)
    session.run(tf.contrib.summary.all_summary_ops())
    assert written() == [("scope/a", 2)]
