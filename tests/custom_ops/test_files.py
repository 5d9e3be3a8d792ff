"""tf.load_file_system_library: what reads and writes files knows the schemes of file systems written in C++."""

import pytest

import everflow as tf
from running import run


@pytest.fixture
def top(drawer):
    """An empty folder."""
    for name in tf.gfile.ListDirectory("drawer://top"):
        tf.gfile.DeleteRecursively("drawer://top/" + name)
    return "drawer://top/"


def test_files_are_written_read_and_appended_to(top):
    with tf.gfile.GFile(top + "a.txt", "w") as file:
        file.write("one\n")
        file.write("two\n")
    with tf.gfile.GFile(top + "a.txt", "a") as file:
        file.write("three\n")
    with tf.gfile.GFile(top + "a.txt") as file:
        assert file.size() == 14
        assert file.readline() == "one\n"
        assert file.tell() == 4
        file.seek(9)
        assert file.read() == "hree\n"
        file.seek(-6, whence=2)
        assert file.read(5) == "three"


def test_folders_and_names(top):
    tf.gfile.MakeDirs(top + "x/y")
    for name in ("x/b.txt", "x/a.txt", "x/y/c.txt"):
        with tf.gfile.GFile(top + name, "w") as file:
            file.write(name)
    assert tf.gfile.ListDirectory(top + "x") == ["a.txt", "b.txt", "y"]
    assert tf.gfile.Glob(top + "x/*.txt") == [top + "x/a.txt", top + "x/b.txt"]
    assert [(folder, names) for folder, _, names in tf.gfile.Walk(top + "x")] == [(top + "x", ["a.txt", "b.txt"]), (top + "x/y", ["c.txt"])]
    assert tf.gfile.IsDirectory(top + "x")
    assert not tf.gfile.IsDirectory(top + "x/a.txt")
    assert not tf.gfile.IsDirectory(top + "nothing")
    found = tf.gfile.Stat(top + "x/y/c.txt")
    assert (found.length, found.mtime_nsec, found.is_directory) == (9, 7000000000, False)
    tf.gfile.DeleteRecursively(top + "x")
    assert not tf.gfile.Exists(top + "x/y/c.txt")


def test_files_are_moved_and_copied_from_here_to_there(top, tmp_path):
    (tmp_path / "here").write_text("text")
    tf.gfile.Copy(str(tmp_path / "here"), top + "there")
    tf.gfile.Copy(top + "there", top + "copy")
    tf.gfile.Rename(top + "there", top + "moved")
    assert not tf.gfile.Exists(top + "there")
    tf.gfile.Copy(top + "moved", str(tmp_path / "back"))
    assert (tmp_path / "back").read_text() == "text"
    with pytest.raises(tf.errors.AlreadyExistsError):
        tf.gfile.Copy(top + "moved", top + "copy")


def test_errors_are_those_of_statuses(top):
    with pytest.raises(tf.errors.NotFoundError, match="drawer://top/nothing is not in the drawer"):
        tf.gfile.GFile(top + "nothing").read()
    with pytest.raises(tf.errors.NotFoundError, match="is not in the drawer"):
        tf.gfile.Remove(top + "nothing")
    with pytest.raises(tf.errors.PermissionDeniedError, match="is locked"):
        tf.gfile.GFile(top + "locked", "w").write("x")
    file = tf.gfile.GFile(top + "large", "w")
    with pytest.raises(tf.errors.ResourceExhaustedError, match="the drawer is full"):
        file.write("x" * 1000001)
    with pytest.raises(tf.errors.UnimplementedError, match="File system scheme 'cupboard' not implemented"):
        tf.gfile.Exists("cupboard://x")


def test_ops_records_and_datasets_use_them(top):
    run(tf.write_file(top + "text", "content"))
    assert run(tf.read_file(top + "text")) == b"content"
    with tf.python_io.TFRecordWriter(top + "records") as writer:
        for i in range(3):
            writer.write(b"record %d" % i)
    assert list(tf.python_io.tf_record_iterator(top + "records")) == [b"record 0", b"record 1", b"record 2"]
    following = tf.data.TFRecordDataset(top + "records").batch(3).make_one_shot_iterator().get_next()
    assert run(following).tolist() == [b"record 0", b"record 1", b"record 2"]


def test_checkpoints_are_saved_there(top, session):
    variable = tf.Variable([1.0, 2.0])
    session.run(variable.initializer)
    saver = tf.train.Saver()
    path = saver.save(session, top + "model.ckpt", global_step=3)
    assert path == top + "model.ckpt-3"
    assert tf.train.latest_checkpoint(top) == path
    session.run(variable.assign([0.0, 0.0]))
    saver.restore(session, path)
    assert session.run(variable).tolist() == [1, 2]


def test_datasets_in_cpp_read_them(top, datasets):
    with tf.gfile.GFile(top + "lines", "w") as file:
        file.write("one\n")
    variant = datasets.lines_dataset([top + "lines"])
    dataset = tf.data.experimental.from_variant(variant, (tf.TensorSpec([], tf.string), tf.TensorSpec([1], tf.int64)))
    assert run(tf.data.make_one_shot_iterator(dataset).get_next()[0]) == b"one"


def test_a_library_that_is_none_is_refused(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="missing"):
        tf.load_file_system_library(str(tmp_path / "missing.so"))
