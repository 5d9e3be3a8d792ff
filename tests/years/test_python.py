"""What Python's own library lost is there again."""

import array
import asyncio
import base64
import builtins
import collections
import collections.abc
import configparser
import fractions
import html.parser
import importlib
import inspect
import io
import json
import os
import platform
import random
import sys
import threading
import time
import unittest
import unittest.mock
import warnings
import xml.etree.ElementTree

import pytest

from everflow import years
from everflow.years.modules import cgi, imghdr, imp, pipes, pkg_resources


@pytest.mark.parametrize("name", ["Iterable", "Mapping", "MutableMapping", "Sequence", "Callable", "Hashable", "OrderedDict"])
def test_abstract_collections(name):
    names = {}
    exec(f"from collections import {name}", names)
    assert names[name] is getattr(collections.abc, name, None) or name == "OrderedDict"


def test_names_that_never_were_are_missing_still():
    with pytest.raises(AttributeError, match="module 'collections' has no attribute 'Iterabel'"):
        _ = collections.Iterabel
    with pytest.raises(ImportError, match="cannot import name 'Iterabel'"):
        exec("from collections import Iterabel")


def test_argument_specifications():
    assert inspect.getargspec(lambda a, b=1, *c, **d: 0) == (["a", "b"], "c", "d", (1,))
    assert inspect.getargspec(lambda a: 0).keywords is None
    assert inspect.formatargspec(["a", "b"], "c", "d", (1,)) == "(a, b=1, *c, **d)"

    def modern(a, *, b):
        """A parameter that only has a name."""

    with pytest.raises(ValueError, match="keyword-only parameters or annotations"):
        inspect.getargspec(modern)


def test_the_clock_measures_this_process():
    assert abs(time.clock() - time.process_time()) < 1


def test_coroutines_that_are_generators():
    @asyncio.coroutine
    def late():
        yield from asyncio.sleep(0).__await__()
        return 3

    @asyncio.coroutine
    def plain():
        return 4

    async def both():
        return await late() + await plain()

    assert asyncio.run(both()) == 7


def test_small_functions():
    assert fractions.gcd(12, 18) == 6
    assert base64.decodestring(base64.encodestring(b"text")) == b"text"
    assert len(platform.linux_distribution()) == 3
    assert os.errno.ENOENT == 2
    assert sys.setcheckinterval(10) is None
    assert importlib.find_loader("json") is not None and importlib.find_loader("no_such_module") is None
    assert issubclass(configparser.SafeConfigParser, configparser.ConfigParser)


def test_methods():
    assert not threading.Thread().isAlive()
    numbers = array.array("b")
    numbers.fromstring(b"\1\2")
    assert numbers.tostring() == b"\1\2"
    root = xml.etree.ElementTree.fromstring("<a><b/><c><b/></c></a>")
    assert [child.tag for child in root.getchildren()] == ["b", "c"]
    assert len(root.getiterator("b")) == 2 and len(xml.etree.ElementTree.ElementTree(root).getiterator()) == 4
    assert html.parser.HTMLParser().unescape("&lt;") == "<"
    parser = configparser.ConfigParser()
    parser.readfp(io.StringIO("[a]\nb = 1"))
    assert parser["a"]["b"] == "1"


def test_assertions_of_test_cases():
    case = unittest.TestCase()
    case.assertEquals(1, 1)
    case.assertRegexpMatches("abc", "b")
    with case.assertRaisesRegexp(ValueError, "no"):
        raise ValueError("no")
    with pytest.raises(AssertionError, match="1 != 2"):
        case.assertEquals(1, 2)


def test_modules():
    import distutils.version

    assert distutils.version.LooseVersion("1.10") > distutils.version.LooseVersion("1.9")
    import dummy_threading

    assert dummy_threading.Thread is threading.Thread


def test_samples_shuffles_and_seeds():
    assert sorted(random.sample({1, 2, 3}, 3)) == [1, 2, 3]
    with pytest.raises(TypeError, match="must be a sequence"):
        random.sample(iter([1, 2]), 1)
    items = [1, 2, 3, 4]
    random.shuffle(items, lambda: 0.0)
    assert items == [2, 3, 4, 1]
    random.seed((1, "a"))
    first = random.random()
    random.seed((1, "a"))
    assert random.random() == first
    assert 0 <= random.randrange(10.0) < 10


def test_the_modern_ways_are_what_they_were():
    random.seed(3)
    expected = random.sample(range(100), 5), random.randint(0, 9), random.random()
    years.remove()
    random.seed(3)
    assert (random.sample(range(100), 5), random.randint(0, 9), random.random()) == expected


def test_arguments_that_are_no_longer_taken(tmp_path):
    assert json.loads("[1]", encoding="utf-8") == [1]
    with pytest.raises(TypeError, match="colour"):
        json.loads("[1]", colour=3)
    (tmp_path / "lines.txt").write_bytes(b"a\r\nb\n")
    with open(tmp_path / "lines.txt", mode="rU") as file:  # noqa: UP015
        assert file.readlines() == ["a\n", "b\n"]
    with pytest.raises(ValueError, match="invalid mode"):
        open(tmp_path / "lines.txt", "rX")


def test_remove_leaves_python_as_it_was():
    years.remove()
    assert not hasattr(collections, "Iterable") and not hasattr(time, "clock") and not hasattr(threading.Thread, "isAlive")
    assert not hasattr(array.array("b"), "tostring") and builtins.open is io.open
    with pytest.raises(ModuleNotFoundError, match="dummy_threading"):
        importlib.import_module("dummy_threading")


# Python 3.12 and 3.13 dropped modules that are there before; ours are tested everywhere.


def test_imp_loads_files(tmp_path):
    (tmp_path / "settings.py").write_text("value = 3")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("value = 4")
    try:
        assert imp.load_source("my_settings", str(tmp_path / "settings.py")).value == 3
        assert sys.modules["my_settings"].value == 3
        found = imp.find_module("package", [str(tmp_path)])
        assert imp.load_module("my_package", *found).value == 4
        file, path, details = imp.find_module("settings", [str(tmp_path)])
        file.close()
        assert path == str(tmp_path / "settings.py") and details == (".py", "r", imp.PY_SOURCE)
    finally:
        for name in ("my_settings", "my_package"):
            sys.modules.pop(name, None)
    with pytest.raises(ImportError, match="No module named 'absent'"):
        imp.find_module("absent", [str(tmp_path)])
    assert imp.new_module("fresh").__name__ == "fresh" and imp.reload is importlib.reload


def test_cgi_and_pipes():
    assert cgi.escape("<a href='x'>\"&") == "&lt;a href='x'&gt;\"&amp;"
    assert cgi.escape('"', quote=True) == "&quot;"
    assert cgi.parse_header("text/html; charset=utf-8") == ("text/html", {"charset": "utf-8"})
    assert pipes.quote("a b") == "'a b'"


@pytest.mark.parametrize(
    "beginning, kind",
    [
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "jpeg"),
        (b"\x89PNG\r\n\x1a\n", "png"),
        (b"GIF89a", "gif"),
        (b"BM1234", "bmp"),
        (b"text", None),
        (b"RIFF1234WEBP", "webp"),
    ],
)
def test_imghdr(beginning, kind, tmp_path):
    (tmp_path / "image").write_bytes(beginning + bytes(30))
    assert imghdr.what(tmp_path / "image") == imghdr.what(io.BytesIO(beginning)) == imghdr.what(None, beginning) == kind


def test_pkg_resources():
    assert pkg_resources.get_distribution("numpy").version == importlib.import_module("numpy").__version__
    assert pkg_resources.parse_version("1.10") > pkg_resources.parse_version("1.9")
    assert pkg_resources.resource_exists("numpy", "__init__.py")
    assert b"numpy" in pkg_resources.resource_string("numpy", "__init__.py")
    with pytest.raises(pkg_resources.DistributionNotFound, match="no-such-thing"):
        pkg_resources.get_distribution("no-such-thing")
    with pytest.raises(pkg_resources.VersionConflict, match="numpy"):
        pkg_resources.require("numpy<1.0")


def test_pytest_records_warnings_that_nobody_asks_for():
    with pytest.warns(None) as none:
        pass
    with pytest.warns(None) as one:
        warnings.warn("a", UserWarning, stacklevel=1)
    assert len(none) == 0 and [str(w.message) for w in one] == ["a"]
    with pytest.raises(TypeError, match="must be derived from Warning"):
        pytest.warns(int)


def test_what_is_a_mock_already_is_mocked_after_its_own_likeness():
    thing = unittest.mock.MagicMock()
    with unittest.mock.patch.object(thing, "method", side_effect=lambda a: a + 1, autospec=True):
        assert thing.method(2) == 3
    assert thing.method(2) != 3
    with pytest.raises(AttributeError, match="does not have the attribute 'clokc'"):
        unittest.mock.patch.object(time, "clokc", autospec=True).__enter__()
