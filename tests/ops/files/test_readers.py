"""Readers and file ops: records, keys, counts, states."""

import zlib

import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("session")


def _work(session, *names):
    """A closed queue with these names."""
    queue = tf.FIFOQueue(len(names), tf.string, shapes=[[]])
    session.run(queue.enqueue_many([list(names)]))
    session.run(queue.close())
    return queue


def _all(session, reader, *names):
    step = reader.read(_work(session, *names))
    found = []
    while True:
        try:
            found.append(tuple(session.run(step)))
        except tf.errors.OutOfRangeError:
            return found


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"head\none\r\n\nthree")
    return str(path)


def test_lines_are_numbered_and_headers_skipped(session, text):
    found = _all(session, tf.TextLineReader(skip_header_lines=1), text)
    name = text.encode()
    assert found == [(name + b":2", b"one"), (name + b":3", b""), (name + b":4", b"three")]


def test_records_are_keyed_by_where_they_begin(session, tmp_path):
    path = str(tmp_path / "records")
    with tf.python_io.TFRecordWriter(path) as out:
        out.write(b"ab")
        out.write(b"c")
    name = path.encode()
    assert _all(session, tf.TFRecordReader(), path) == [(name + b":0", b"ab"), (name + b":18", b"c")]


@pytest.mark.parametrize("encoding", [None, "ZLIB"])
def test_records_of_one_length_lie_between_header_and_footer(session, tmp_path, encoding):
    content = b"HHaabbccFFF"
    path = tmp_path / "fixed"
    path.write_bytes(zlib.compress(content) if encoding else content)
    reader = tf.FixedLengthRecordReader(2, header_bytes=2, footer_bytes=3, encoding=encoding)
    assert [value for _, value in _all(session, reader, str(path))] == [b"aa", b"bb", b"cc"]


def test_records_may_overlap(session, tmp_path):
    path = tmp_path / "fixed"
    path.write_bytes(b"abcd")
    assert [v for _, v in _all(session, tf.FixedLengthRecordReader(2, hop_bytes=1), str(path))] == [b"ab", b"bc", b"cd"]


def test_a_read_of_several_stays_within_a_file(session, text):
    reader = tf.TextLineReader()
    step = reader.read_up_to(_work(session, text, text), 3)
    assert [len(session.run(step).values) for _ in range(3)] == [3, 1, 3]
    assert session.run([reader.num_records_produced(), reader.num_work_units_completed()]) == [7, 1]


def test_readers_of_whole_files_have_a_state(session, text):
    reader = tf.WholeFileReader()
    queue = _work(session, text, text)
    assert session.run(reader.read(queue)).value == b"head\none\r\n\nthree"
    state = session.run(reader.serialize_state())
    session.run(reader.reset())
    assert session.run(reader.num_records_produced()) == 0
    session.run(reader.restore_state(state))
    assert session.run([reader.num_records_produced(), reader.num_work_units_completed()]) == [1, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse state for WholeFileReader"):
        session.run(reader.restore_state("bad"))
    with pytest.raises(tf.errors.UnimplementedError, match="Reader SerializeState"):
        session.run(tf.TextLineReader().serialize_state())


def test_a_missing_file_is_named(session):
    with pytest.raises(tf.errors.NotFoundError, match="/no/such; No such file or directory"):
        _all(session, tf.TextLineReader(), "/no/such")


def test_files_are_written_and_read(session, tmp_path):
    path = str(tmp_path / "new" / "file")
    session.run(tf.write_file(path, "content"))
    assert session.run(tf.read_file(path)) == b"content"
    with pytest.raises(ValueError, match="must be rank 0"):
        tf.read_file([path])


def test_record_input_gives_every_record_once_an_epoch(session, tmp_path):
    from everflow.ops.files.record_input import RecordInput

    for i in range(3):
        with tf.python_io.TFRecordWriter(str(tmp_path / f"part{i}")) as out:
            for k in range(4):
                out.write(f"{i}{k}")
    step = RecordInput(str(tmp_path / "part*"), batch_size=4, buffer_size=5, seed=1).get_yield_op()
    for _ in range(2):
        assert sorted(r for _ in range(3) for r in session.run(step)) == sorted(f"{i}{k}".encode() for i in range(3) for k in range(4))
    with pytest.raises(tf.errors.NotFoundError, match="Found no files at /no/such"):
        session.run(RecordInput("/no/such").get_yield_op())
