"""What Python's own library lost since 3.7."""

from __future__ import annotations

import collections.abc
import importlib
import importlib.machinery
import importlib.util
from typing import Any

from everflow.years.shims import NOT_OURS, methods, modules, names, otherwise, own, patch, put


def _of(module: str, name: str) -> Any:
    """Gives what now has another name."""
    return lambda: getattr(importlib.import_module(module), name)


def _same_as(method: str) -> Any:
    return lambda self, *args, **kwargs: getattr(self, method)(*args, **kwargs)


names("collections", "Python 3.10", {name: _of("collections.abc", name) for name in collections.abc.__all__ if name != "Buffer"})
names("inspect", "Python 3.11", getargspec=lambda: getargspec, formatargspec=lambda: formatargspec, ArgSpec=lambda: ArgSpec)
names("time", "Python 3.8", clock=_of("time", "process_time"))
names("asyncio", "Python 3.11", coroutine=lambda: coroutine)
names("fractions", "Python 3.9", gcd=_of("math", "gcd"))
names("base64", "Python 3.9", encodestring=_of("base64", "encodebytes"), decodestring=_of("base64", "decodebytes"))
names("cgi", "Python 3.8", escape=_of("everflow.years.modules.cgi", "escape"))
names("platform", "Python 3.8", linux_distribution=lambda: linux_distribution, dist=lambda: linux_distribution)
names("os", "Python 3.7", errno=lambda: importlib.import_module("errno"))
names("sys", "Python 3.9", setcheckinterval=lambda: setcheckinterval, getcheckinterval=lambda: lambda: 100)
names("configparser", "Python 3.12", SafeConfigParser=_of("configparser", "ConfigParser"))
names("importlib", "Python 3.12", find_loader=lambda: find_loader)
names("locale", "Python 3.12", format=_of("locale", "format_string"))
names("unittest", "Python 3.13", makeSuite=lambda: make_suite)

modules("Python 3.9", {"dummy_threading": lambda: importlib.import_module("threading")})
modules("Python 3.12", {"imp": own("imp"), "distutils": own("distutils")})
modules("Python 3.13", {"cgi": own("cgi"), "pipes": own("pipes"), "imghdr": own("imghdr")})
modules("setuptools 82", {"pkg_resources": own("pkg_resources")})

methods("threading", "Thread", "Python 3.9", isAlive=lambda self: self.is_alive())
methods("array", "array", "Python 3.9", tostring=lambda a: a.tobytes(), fromstring=lambda a, data: a.frombytes(data))
methods(
    "xml.etree.ElementTree",
    "Element",
    "Python 3.9",
    getchildren=lambda element: list(element),
    getiterator=lambda element, tag=None: list(element.iter(tag)),
)
methods("xml.etree.ElementTree", "ElementTree", "Python 3.9", getiterator=lambda tree, tag=None: list(tree.iter(tag)))
methods("html.parser", "HTMLParser", "Python 3.9", unescape=lambda parser, text: importlib.import_module("html").unescape(text))
methods("configparser", "RawConfigParser", "Python 3.12", readfp=lambda parser, file, filename=None: parser.read_file(file, filename))

# Test cases had several names for one thing.
_ASSERTIONS = {
    "assertEqual": ("assertEquals", "failUnlessEqual"),
    "assertNotEqual": ("assertNotEquals", "failIfEqual"),
    "assertTrue": ("assert_", "failUnless"),
    "assertFalse": ("failIf",),
    "assertRaises": ("failUnlessRaises",),
    "assertAlmostEqual": ("assertAlmostEquals", "failUnlessAlmostEqual"),
    "assertNotAlmostEqual": ("assertNotAlmostEquals",),
    "assertRegex": ("assertRegexpMatches",),
    "assertNotRegex": ("assertNotRegexpMatches",),
    "assertRaisesRegex": ("assertRaisesRegexp",),
}
methods("unittest", "TestCase", "Python 3.12", **{old: _same_as(new) for new, olds in _ASSERTIONS.items() for old in olds})


ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")


def getargspec(func: Any) -> ArgSpec:
    """The parameters of a function that has neither annotations nor parameters that only have names."""
    import inspect

    spec = inspect.getfullargspec(func)
    if spec.kwonlyargs or spec.annotations:
        raise ValueError("Function has keyword-only parameters or annotations, use inspect.signature() API which can support them")
    return ArgSpec(*spec[:4])


def formatargspec(args: Any, varargs: Any = None, varkw: Any = None, defaults: Any = None, *_: Any, **__: Any) -> str:
    """Parameters as they are written: (a, b=1, *args, **kwargs)."""
    defaults = defaults or ()
    plain = len(args) - len(defaults)
    shown = [*args[:plain], *(f"{name}={value!r}" for name, value in zip(args[plain:], defaults))]
    return f"({', '.join(shown + ['*' + varargs] * bool(varargs) + ['**' + varkw] * bool(varkw))})"


def coroutine(function: Any) -> Any:
    """Lets a generator that says `yield from` be awaited."""
    import inspect
    import types

    if inspect.iscoroutinefunction(function):
        return function
    if inspect.isgeneratorfunction(function):
        return types.coroutine(function)

    async def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return await result if inspect.isawaitable(result) else result

    return call


def linux_distribution(*_: Any, **__: Any) -> tuple[str, str, str]:
    """Name, version and code name of the Linux that this is; empty where nothing tells."""
    import platform

    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return "", "", ""
    return release.get("NAME", ""), release.get("VERSION_ID", ""), release.get("VERSION_CODENAME", "")


def setcheckinterval(interval: int) -> None:
    """Threads have been switched by time, not by instructions, since Python 3.2; this did nothing then, too."""


def find_loader(name: str, path: Any = None) -> Any:
    """What would load a module; None where there is none."""
    spec = importlib.util.find_spec(name) if path is None else importlib.machinery.PathFinder.find_spec(name, path)
    return spec and spec.loader


def make_suite(testCaseClass: type, prefix: str = "test", sortUsing: Any = None, suiteClass: Any = None) -> Any:
    """The tests of a class."""
    import unittest

    loader = unittest.TestLoader()
    loader.testMethodPrefix = prefix
    loader.sortTestMethodsUsing = sortUsing or loader.sortTestMethodsUsing
    loader.suiteClass = suiteClass or loader.suiteClass
    return loader.loadTestsFromTestCase(testCaseClass)


@otherwise("random", "Random.sample", "Python 3.11", "random.sample of a set")
def _sample(error: Any, real: Any, self: Any, population: Any, k: Any, **others: Any) -> Any:
    if not isinstance(population, collections.abc.Set):
        return NOT_OURS
    return real(self, tuple(population), k, **others)


@otherwise("random", "Random.shuffle", "Python 3.11", "random.shuffle with a function")
def _shuffle(error: Any, real: Any, self: Any, x: Any, random: Any = None) -> Any:
    if random is None:
        return NOT_OURS
    for i in reversed(range(1, len(x))):
        j = int(random() * (i + 1))
        x[i], x[j] = x[j], x[i]
    return None


@otherwise("random", "Random.randrange", "Python 3.12", "random.randrange and randint of whole floats")
def _randrange(error: Any, real: Any, self: Any, *bounds: Any) -> Any:
    if not any(isinstance(bound, float) for bound in bounds) or any(bound is not None and bound != int(bound) for bound in bounds):
        return NOT_OURS
    return real(self, *(bound if bound is None else int(bound) for bound in bounds))


@otherwise("random", "Random.seed", "Python 3.11", "random.seed of other objects")
def _seed(error: Any, real: Any, self: Any, a: Any = None, version: int = 2) -> Any:
    return real(self, hash(a), version)


@patch("random")
def _fresh_functions(random: Any) -> None:
    """The functions of the module are methods of one generator, taken before its class was changed."""
    for name in ("sample", "shuffle", "randrange", "randint", "seed"):
        put(random, name, getattr(random._inst, name))


def _without_encoding(error: Any, real: Any, *args: Any, encoding: Any = NOT_OURS, **others: Any) -> Any:
    return NOT_OURS if encoding is NOT_OURS else real(*args, **others)


otherwise("json", "load", "Python 3.9", "json.load with encoding=")(_without_encoding)
otherwise("json", "loads", "Python 3.9", "json.loads with encoding=")(_without_encoding)


@otherwise("builtins", "open", "Python 3.11", 'open with mode "U"', ValueError)
def _open(error: Any, real: Any, file: Any, mode: str = "r", *args: Any, **others: Any) -> Any:
    if "U" not in mode:
        return NOT_OURS
    mode = mode.replace("U", "")
    return real(file, mode if "r" in mode else "r" + mode, *args, **others)


@otherwise("unittest.mock", "_patch.__enter__", "Python 3.11", "mock.patch with autospec=True of what is a mock already", Exception)
def _mocked_twice(error: Any, real: Any, self: Any) -> Any:
    if type(error).__name__ != "InvalidSpecError":
        return NOT_OURS
    self.autospec = None
    return real(self)
