"""`tf.gfile` with relative names, with "" and "." and with slashes at the end."""

import os
import pathlib

import pytest

import everflow as tf


@pytest.mark.parametrize("name", ["", ".", "./", ".."])
def test_folders_that_are_there_are_made_again(here, name):
    tf.gfile.MakeDirs(name)
    tf.gfile.MkDir(name)
    tf.io.gfile.makedirs(name)
    assert os.listdir(here) == []


def test_slashes_at_the_end_mean_nothing(here):
    tf.gfile.MakeDirs("a/b//")
    tf.gfile.MkDir("a/c/")
    with tf.gfile.Open("a/b/text/", "w") as file:
        file.write("hello")
    assert tf.gfile.Exists("a/b/text/") and not tf.gfile.IsDirectory("a/b/text/")
    assert tf.gfile.Stat("a/b/text/").length == 5
    assert tf.gfile.ListDirectory("a/") == ["b", "c"]
    tf.gfile.Remove("a/b/text/")
    tf.gfile.DeleteRecursively("a/")
    assert os.listdir(here) == []


def test_an_empty_name_is_no_file():
    assert not tf.gfile.Exists("") and not tf.gfile.IsDirectory("")
    assert tf.gfile.Glob("") == [] and list(tf.gfile.Walk("")) == []
    gfile = tf.gfile
    for call in (gfile.ListDirectory, gfile.Stat, gfile.Remove, gfile.DeleteRecursively, lambda name: gfile.Open(name).read()):
        with pytest.raises(tf.errors.NotFoundError, match="directory| not found"):
            call("")
    with pytest.raises(TypeError, match="Expected binary or unicode string, got None"):
        tf.gfile.Exists(None)


def test_a_file_in_the_way_of_a_folder():
    open("file", "w").close()
    tf.gfile.MakeDirs("file")
    with pytest.raises(tf.errors.FailedPreconditionError, match="^file/x; Not a directory"):
        tf.gfile.MakeDirs("file/x/y")
    with pytest.raises(tf.errors.NotFoundError, match="^no/x; No such file or directory"):
        tf.gfile.MkDir("no/x")


@pytest.mark.parametrize(
    "pattern, found",
    [
        ("*.csv", "./.hidden.csv ./a.csv ./b.csv"),
        ("./*.csv", "./.hidden.csv ./a.csv ./b.csv"),
        ("a.csv", "./a.csv"),
        ("data/*.csv", "data/[z].csv data/c.csv"),
        ("./data/c*", "./data/c.csv"),
        ("*/*.csv", "./data/[z].csv ./data/c.csv"),
        ("data/../[ab].csv", "data/../a.csv data/../b.csv"),
        ("[!a].csv", "./b.csv"),
        ("[^a].csv", "./b.csv"),
        ("data/\\[z\\].csv", "data/[z].csv"),
        ("data", "./data"),
        ("data/", ""),
        ("data//*.csv", ""),
        ("{a,b}.csv", ""),
        ("no*", ""),
    ],
)
def test_patterns(pattern, found):
    os.mkdir("data")
    for name in ("a.csv", "b.csv", ".hidden.csv", "data/c.csv", "data/[z].csv"):
        open(name, "w").close()
    assert sorted(tf.gfile.Glob(pattern)) == found.split()


def test_patterns_below_what_is_no_folder():
    with pytest.raises(tf.errors.NotFoundError, match="^no; No such file or directory"):
        tf.gfile.Glob("no/*")
    open("file", "w").close()
    with pytest.raises(tf.errors.FailedPreconditionError, match="^file; Not a directory"):
        tf.gfile.Glob("file/*")


def test_a_file_copied_onto_itself_stays():
    pathlib.Path("f").write_text("hello")
    tf.gfile.Copy("f", "./f", overwrite=True)
    assert tf.gfile.Open("f").read() == "hello"
