"""Files and folders as `tf.gfile` shows them."""

import pytest

import everflow as tf
from everflow.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    OutOfRangeError,
    PermissionDeniedError,
    UnimplementedError,
)
from everflow.io import file_io, filesystems, gfile


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_text_is_written_and_read_as_utf8(here):
    with gfile.GFile("f", "w") as f:
        f.write("hello\nwörld\n")
        f.write(b"last")
        assert f.tell() == 17 and f.size() == 17
    f = gfile.GFile("f")
    assert f.readline() == "hello\n" and f.tell() == 6
    assert f.read(3) == "wö"
    f.seek(0)
    assert f.readlines() == ["hello\n", "wörld\n", "last"]
    assert gfile.GFile("f", "rb").read() == "hello\nwörld\nlast".encode()


def test_a_file_is_opened_only_when_it_is_used(here):
    f = gfile.GFile("later")
    with pytest.raises(NotFoundError, match="later; No such file or directory"):
        f.read()
    (here / "later").write_text("now")
    assert f.read() == "now"


def test_modes_say_what_is_allowed(here):
    (here / "f").write_text("abc")
    with pytest.raises(PermissionDeniedError, match="File isn't open for writing"):
        gfile.GFile("f").write("x")
    with pytest.raises(PermissionDeniedError, match="File isn't open for reading"):
        gfile.GFile("f", "w").read()
    with pytest.raises(InvalidArgumentError, match="mode is not"):
        gfile.GFile("f", "q")
    with gfile.GFile("f", "a") as f:
        assert f.tell() == 3
        f.write("def")
    assert (here / "f").read_text() == "abcdef"


def test_seeking(here):
    (here / "f").write_bytes(b"0123456789")
    f = gfile.GFile("f")
    f.seek(-2, 2)
    assert f.read() == "89"
    f.seek(position=3)
    f.seek(2, 1)
    assert f.read(1) == "5"
    with pytest.raises(OutOfRangeError, match="reached end of file"):
        f.seek(11)
    assert f.tell() == 10
    with pytest.raises(InvalidArgumentError, match="negative"):
        f.seek(-1)
    with pytest.raises(InvalidArgumentError, match="Invalid whence argument: 5"):
        f.seek(0, 5)
    with pytest.raises(TypeError, match="offset argument required"):
        f.seek()


def test_lines_lose_carriage_returns(here):
    (here / "f").write_bytes(b"a\r\nb\n")
    assert list(gfile.GFile("f")) == ["a\n", "b\n"]
    assert gfile.GFile("f").read() == "a\r\nb\n"


def test_folders_are_made_and_removed(here):
    gfile.create_dir("d")
    gfile.create_dir("d")
    with pytest.raises(NotFoundError, match="x/y; No such file"):
        gfile.create_dir("x/y")
    gfile.recursive_create_dir("x/y")
    assert gfile.is_directory("x/y") and not gfile.is_directory("nowhere")
    with pytest.raises(FailedPreconditionError, match="d; Is a directory"):
        gfile.delete_file("d")
    gfile.delete_recursively("x")
    assert not gfile.file_exists("x") and not gfile.file_exists("")
    with pytest.raises(NotFoundError, match="x not found"):
        gfile.delete_recursively("x")


def test_copying_and_renaming_refuse_to_overwrite_unless_told(here):
    (here / "a").write_text("A")
    gfile.copy("a", "b")
    for move in (gfile.copy, gfile.rename):
        with pytest.raises(AlreadyExistsError, match="file already exists"):
            move("a", "b")
    (here / "b").write_text("B")
    gfile.copy("a", "b", overwrite=True)
    assert (here / "b").read_text() == "A"
    gfile.rename("b", "a", overwrite=True)
    assert not gfile.file_exists("b")
    for move in (gfile.copy, gfile.rename):
        with pytest.raises(NotFoundError, match="nope; No such file or directory"):
            move("nope", "c")


def test_listing_walking_and_globbing(here):
    for name in ("w/a/q", "w/1", "w/2"):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text("")
    assert gfile.list_directory("w") == ["1", "2", "a"]
    assert list(gfile.walk("w")) == [("w", ["a"], ["1", "2"]), ("w/a", [], ["q"])]
    assert list(gfile.walk("w", in_order=False)) == [("w/a", [], ["q"]), ("w", ["a"], ["1", "2"])]
    assert list(gfile.walk("nowhere")) == []
    errors = []
    assert list(gfile.walk_v2("nowhere", onerror=errors.append)) == [] and isinstance(errors[0], NotFoundError)
    assert gfile.get_matching_files("w/[12]") == ["w/1", "w/2"]
    assert gfile.get_matching_files("*") == ["./w"]
    assert gfile.get_matching_files(["w/*/q", str(here / "w" / "?")]) == ["w/a/q", *(f"{here}/w/{x}" for x in "12a")]
    assert gfile.get_matching_files("w/1") == ["w/1"] and gfile.get_matching_files("*x") == []
    with pytest.raises(NotFoundError, match="Could not find directory w/1"):
        gfile.list_directory("w/1")


def test_stat(here):
    (here / "f").write_text("four")
    found = gfile.stat("f")
    assert found.length == 4 and not found.is_directory and found.mtime_nsec > 10**18
    assert gfile.stat(".").is_directory


def test_whole_files(here):
    file_io.write_string_to_file("a", "abc")
    assert file_io.read_file_to_string("a") == "abc" and file_io.read_file_to_string("a", True) == b"abc"
    assert file_io.file_crc32("a") == file_io.file_crc32("a", block_size=2) == "0x352441c2"
    file_io.write_string_to_file("b", "abd")
    assert file_io.filecmp("a", "a") and not file_io.filecmp("a", "b")


def test_atomic_writes_leave_nothing_behind(here):
    file_io.atomic_write_string_to_file("a", "new")
    with pytest.raises(AlreadyExistsError, match="file already exists"):
        file_io.atomic_write_string_to_file("a", "other", overwrite=False)
    assert gfile.list_directory(".") == ["a"] and (here / "a").read_text() == "new"


def test_schemes_choose_the_file_system(here, monkeypatch):
    (here / "f").write_text("local")
    assert gfile.GFile(f"file://{here}/f").read() == "local"
    with pytest.raises(UnimplementedError, match=r"File system scheme 'foo' not implemented \(file: 'foo://a'\)"):
        gfile.file_exists("foo://a")

    class Elsewhere(filesystems.LocalFileSystem):
        def open(self, path, mode):
            return super().open(path.replace("foo://", ""), mode)

        def exists(self, path):
            return super().exists(path.replace("foo://", ""))

    monkeypatch.setitem(filesystems._SCHEMES, "foo", Elsewhere())
    assert gfile.file_exists("foo://f") and gfile.GFile("foo://f").read() == "local"
    gfile.copy("foo://f", "g")
    assert (here / "g").read_text() == "local"


def test_paths_with_a_scheme_that_fsspec_knows_reach_its_files():
    folder = "memory://everflow-test/deep"
    tf.gfile.MakeDirs(folder)
    with tf.gfile.GFile(folder + "/a.txt", "w") as file:
        file.write("one\ntwo\n")
    assert tf.gfile.ListDirectory(folder) == ["a.txt"]
    assert tf.gfile.Stat(folder + "/a.txt").length == 8
    assert list(tf.gfile.GFile(folder + "/a.txt")) == ["one\n", "two\n"]
    tf.gfile.Rename(folder + "/a.txt", folder + "/b.txt")
    assert not tf.gfile.Exists(folder + "/a.txt") and tf.gfile.Glob(folder + "/*.txt") == [folder + "/b.txt"]
    with pytest.raises(tf.errors.NotFoundError, match="a.txt"):
        tf.gfile.GFile(folder + "/a.txt").read()
    tf.gfile.DeleteRecursively("memory://everflow-test")
    assert not tf.gfile.Exists(folder)


def test_records_are_written_and_read_beyond_this_machine():
    path = "memory://everflow-test/x.tfrecord"
    with tf.python_io.TFRecordWriter(path) as writer:
        writer.write(b"one")
    assert list(tf.python_io.tf_record_iterator(path)) == [b"one"]
    tf.gfile.Remove(path)


def test_a_scheme_that_nobody_knows_is_unimplemented():
    with pytest.raises(tf.errors.UnimplementedError, match="File system scheme 'moon' not implemented"):
        tf.gfile.GFile("moon://x").read()
