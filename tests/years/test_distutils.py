"""Our distutils, for Pythons without one; loaded here under its own name beside Python's."""

import importlib
import sys

import pytest

from everflow.years.modules import distutils


@pytest.fixture(autouse=True)
def ours():
    """The package in sys.modules is ours for the test."""
    before = {name: sys.modules.pop(name) for name in [*sys.modules] if name.partition(".")[0] == "distutils"}
    sys.modules["distutils"] = distutils
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "distutils"]:
        del sys.modules[name]
    sys.modules.update(before)


@pytest.mark.parametrize("less, more", [("1.9", "1.10"), ("1.15.0", "1.15.0rc1"), ("2.0a", "2.0b")])
def test_loose_versions(less, more):
    version = importlib.import_module("distutils.version")
    assert version.__file__.startswith(distutils.__path__[0])
    assert version.LooseVersion(less) < version.LooseVersion(more) and version.LooseVersion(more) > less
    assert str(version.LooseVersion(less)) == less and repr(version.LooseVersion("1.2")) == "LooseVersion ('1.2')"
    assert version.LooseVersion("1.2b").version == [1, 2, "b"]


def test_strict_versions():
    from distutils.version import StrictVersion

    assert StrictVersion("1.2a1") < StrictVersion("1.2b1") < StrictVersion("1.2") == "1.2.0" < StrictVersion("1.10")
    assert str(StrictVersion("1.2.0")) == "1.2" and str(StrictVersion("1.2.3b4")) == "1.2.3b4"
    with pytest.raises(ValueError, match="invalid version number '1.2rc1'"):
        StrictVersion("1.2rc1")


def test_truth_values_and_programs():
    from distutils.spawn import find_executable
    from distutils.util import strtobool

    assert [strtobool(text) for text in ("Yes", "1", "off", "f")] == [1, 1, 0, 0]
    with pytest.raises(ValueError, match="invalid truth value 'maybe'"):
        strtobool("maybe")
    assert find_executable("sh").endswith("sh") and find_executable("no-such-program") is None


def test_folders_and_files(tmp_path):
    from distutils.dir_util import copy_tree, mkpath, remove_tree
    from distutils.file_util import copy_file, move_file

    assert mkpath(str(tmp_path / "a" / "b")) == [str(tmp_path / "a"), str(tmp_path / "a" / "b")]
    (tmp_path / "a" / "b" / "f").write_text("x")
    (tmp_path / "c").mkdir()
    assert copy_tree(str(tmp_path / "a"), str(tmp_path / "c")) == [str(tmp_path / "c" / "b" / "f")]
    assert copy_tree(str(tmp_path / "a"), str(tmp_path / "c"), update=1) == []
    assert copy_file(tmp_path / "a" / "b" / "f", tmp_path / "c")[1] == 1 and (tmp_path / "c" / "f").read_text() == "x"
    move_file(str(tmp_path / "c" / "f"), str(tmp_path / "g"))
    remove_tree(tmp_path / "c")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "g"]


def test_places_of_python():
    import sysconfig
    from distutils.sysconfig import get_python_inc, get_python_lib

    assert get_python_lib() == sysconfig.get_path("purelib") and get_python_lib(1) == sysconfig.get_path("platlib")
    assert get_python_lib(standard_lib=1) == sysconfig.get_path("stdlib") and get_python_inc() == sysconfig.get_path("include")
