"""What numpy dropped since 1.18: names, modules, methods of arrays, what it made of arguments, how it shows numbers."""

from __future__ import annotations

import functools
import importlib
import importlib.machinery
import sys
import warnings
from typing import Any

import numpy as np

from everflow._native import answer_as_once, answer_as_today
from everflow.years.reporting import note
from everflow.years.shims import NOT_OURS, TABLE, methods, module_rule, modules, names, otherwise, own, patch, put, undoing


def _is(value: Any) -> Any:
    return lambda: value


def _of(path: str) -> Any:
    """What numpy now has at another place."""
    return lambda: functools.reduce(getattr, path.split("."), np)


def _of_core(module: str) -> Any:
    return lambda: importlib.import_module(f"numpy.{'_core' if hasattr(np, '_core') and hasattr(np._core, 'numeric') else 'core'}.{module}")


names(
    "numpy",
    "numpy 1.24",
    {
        "bool": _is(bool),
        "int": _is(int),
        "float": _is(float),
        "complex": _is(complex),
        "object": _is(object),
        "str": _is(str),
        "long": _is(int),
        "unicode": _is(str),
        "bool8": _of("bool_"),
        "int0": _of("intp"),
        "uint0": _of("uintp"),
        "object0": _of("object_"),
        "str0": _of("str_"),
        "bytes0": _of("bytes_"),
        "void0": _of("void"),
        "typeDict": lambda: np._core.sctypeDict,  # type: ignore[attr-defined]
    },
)
names(
    "numpy",
    "numpy 1.23",
    asscalar=_is(lambda a: a.item()),
    alen=_is(lambda a: len(np.array(a, ndmin=1))),
    rank=_of("ndim"),
    loads=lambda: importlib.import_module("pickle").loads,
)
names(
    "numpy",
    "numpy 2.0",
    {
        "float_": _of("float64"),
        "complex_": _of("complex128"),
        "string_": _of("bytes_"),
        "unicode_": _of("str_"),
        "longfloat": _of("longdouble"),
        "singlecomplex": _of("complex64"),
        "cfloat": _of("complex128"),
        "clongfloat": _of("clongdouble"),
        "longcomplex": _of("clongdouble"),
        "Inf": _of("inf"),
        "Infinity": _of("inf"),
        "infty": _of("inf"),
        "PINF": _of("inf"),
        "NINF": _is(-np.inf),
        "NaN": _of("nan"),
        "PZERO": _is(0.0),
        "NZERO": _is(-0.0),
        "alltrue": _of("all"),
        "sometrue": _of("any"),
        "product": _of("prod"),
        "cumproduct": _of("cumprod"),
        "round_": _of("round"),
        "mat": _of("asmatrix"),
        "issubsctype": _of("issubdtype"),
        "deprecate": _is(lambda *args, **_: args[0] if args else lambda f: f),
        "asfarray": _is(lambda a, dtype=np.float64: np.asarray(a, dtype if np.issubdtype(dtype, np.inexact) else np.float64)),
        "msort": _is(lambda a: np.sort(a, axis=0)),
        "fastCopyAndTranspose": _is(lambda a: np.asarray(a).T.copy()),
        "disp": _is(lambda mesg, device=None, linefeed=True: print(mesg, end="\n" * linefeed, file=device, flush=True)),
        "sctypes": lambda: sctypes(),
        "cast": lambda: _By(lambda kind: lambda x: np.asarray(x).astype(kind)),
        "nbytes": lambda: _By(lambda kind: np.dtype(kind).itemsize),
        "sctype2char": _is(lambda sctype: np.dtype(sctype).char),
        "obj2sctype": lambda: obj2sctype,
        "issctype": _is(lambda rep: rep is not object and obj2sctype(rep) is not None),
        "maximum_sctype": _is(lambda t: sctypes_of(np.dtype(t).kind, np.dtype(t).type)[-1]),
        "issubclass_": _is(lambda arg1, arg2: isinstance(arg1, type) and issubclass(arg1, arg2)),
        "find_common_type": lambda: find_common_type,
        "safe_eval": lambda: importlib.import_module("ast").literal_eval,
        "DataSource": _of("lib.npyio.DataSource"),
        "byte_bounds": _of("lib.array_utils.byte_bounds"),
        "compare_chararrays": _of("char.compare_chararrays"),
        "add_newdoc": _of("lib.add_newdoc"),
        "add_docstring": _of("lib.add_docstring"),
        "recfromcsv": lambda: recfromcsv,
        "recfromtxt": lambda: recfromtxt,
        **{
            error: _of(f"exceptions.{error}")
            for error in (
                "ComplexWarning",
                "VisibleDeprecationWarning",
                "RankWarning",
                "ModuleDeprecationWarning",
                "TooHardError",
                "AxisError",
            )
        },
    },
)
names(
    "numpy",
    "numpy 2.4",
    in1d=_is(lambda *args, **others: np.isin(*args, **others).ravel()),
    trapz=_of("trapezoid"),
    row_stack=_of("vstack"),
)

modules(
    "numpy 2.0",
    {
        "numpy.compat": own("numpy_compat"),
        "numpy.compat.py3k": own("numpy_compat"),
        "numpy.dual": own("numpy_dual"),
        "numpy.testing.utils": lambda: np.testing,
        "numpy.core.umath_tests": _of_core("_umath_tests"),
    },
)
names("numpy", "numpy 2.0", compat=own("numpy_compat"), dual=own("numpy_dual"))
names("numpy.lib", "numpy 2.0", pad=_of("pad"))


@module_rule("numpy 2.0", "modules of numpy.core and numpy.lib")
def _private_now(name: str) -> Any:
    """numpy.lib.arraysetops is numpy.lib._arraysetops_impl now, numpy.core.memmap is numpy._core.memmap."""
    package, _, last = name.rpartition(".")
    other = {
        "numpy.lib": f"numpy.lib._{last}_impl",
        "numpy.core": f"numpy._core.{last}",
        "numpy.linalg": f"numpy.linalg._{last}",
        "numpy.fft": f"numpy.fft._{last}",
    }.get(package)
    # Asked by the path finder, not by importlib: what nobody has must not be looked for without end.
    if other is None or importlib.machinery.PathFinder.find_spec(other, list(sys.modules[other.rpartition(".")[0]].__path__)) is None:
        return None
    return lambda: importlib.import_module(other)


class _By(dict[Any, Any]):
    """np.cast[np.float32](x), np.nbytes[np.float32]: a value for each type, however it is named."""

    def __init__(self, give: Any) -> None:
        super().__init__({kind: give(kind) for kinds in sctypes().values() for kind in kinds})
        self.give = give

    def __missing__(self, kind: Any) -> Any:
        return self.give(np.dtype(kind))


def sctypes() -> dict[str, list[Any]]:
    """The kinds of numbers, each by size."""

    def sized(kind: str) -> list[Any]:
        # Others add types of their own to this dictionary.
        every = np._core.sctypeDict.values()  # type: ignore[attr-defined]
        found = {t for t in every if t.__module__ == "numpy" and np.dtype(t).kind == kind}
        by_size = {np.dtype(t).itemsize: t for t in sorted(found, key=lambda t: np.dtype(t).num, reverse=True)}
        return [by_size[size] for size in sorted(by_size)]

    return {
        "int": sized("i"),
        "uint": sized("u"),
        "float": sized("f"),
        "complex": sized("c"),
        "others": [bool, object, bytes, str, np.void],
    }


def sctypes_of(kind: str, default: Any) -> list[Any]:
    return sctypes().get({"i": "int", "u": "uint", "f": "float", "c": "complex"}.get(kind, ""), [default])


def obj2sctype(rep: Any, default: Any = None) -> Any:
    """The type of numpy that something stands for."""
    if isinstance(rep, np.ndarray):
        return rep.dtype.type
    try:
        return np.dtype(rep).type
    except TypeError:
        return default


def find_common_type(array_types: Any, scalar_types: Any) -> Any:
    """A type for arrays and numbers together; numbers count only where they are of a higher kind."""
    arrays, scalars = [np.dtype(t) for t in array_types], [np.dtype(t) for t in scalar_types]
    if not scalars or not arrays:
        return np.result_type(*arrays, *scalars) if arrays or scalars else None
    array, scalar = np.result_type(*arrays), np.result_type(*scalars)
    order = "b?uifcSUVO"
    return scalar if order.index(scalar.kind) > order.index(array.kind) and {array.kind, scalar.kind} != {"u", "i"} else array


def recfromtxt(fname: Any, **others: Any) -> Any:
    return np.genfromtxt(fname, **{"dtype": None, **others}).view(np.recarray)


def recfromcsv(fname: Any, **others: Any) -> Any:
    return recfromtxt(fname, **{"case_sensitive": "lower", "names": True, "delimiter": ",", **others})


def _itemset(a: Any, *where_and_value: Any) -> None:
    """Sets one element: a.itemset(value), a.itemset(flat_index, value), a.itemset((i, j), value) or a.itemset(i, j, value)."""
    *where, value = where_and_value
    if len(where) == 1 and not isinstance(where[0], tuple):
        a.flat[where[0]] = value
    elif where:
        a[where[0] if len(where) == 1 else tuple(where)] = value
    else:
        a[...] = value


def _newer(version: str) -> bool:
    return np.lib.NumpyVersion(np.__version__) >= version


# These are still there, and say that they were removed.
methods(
    "numpy",
    "ndarray",
    "numpy 2.0",
    replace=_newer("2.0.0"),
    ptp=lambda a, axis=None, out=None, **others: np.ptp(a, axis, out, **others),
    newbyteorder=lambda a, new_order="S": a.view(a.dtype.newbyteorder(new_order)),
    itemset=_itemset,
)
for _kind in ("ndarray", "generic"):
    methods("numpy", _kind, "numpy 2.3", replace=_newer("2.3.0"), tostring=lambda a, order="C": a.tobytes(order))

_OUT_OF_BOUNDS = "np.array and its kin of integers out of bounds"
_RAGGED = "np.array and its kin of lists of different lengths"
_POSITIONS = "np.array with copy, order, subok, ndmin by position"
_COPY = "np.array with copy=False that has to copy"
_UNWILLING = "np.array and its kin of lists of what refuses to become an array, such as tensors of a graph"
TABLE.update({_UNWILLING: "numpy 1.19", _OUT_OF_BOUNDS: "numpy 2.0", _RAGGED: "numpy 1.24", _POSITIONS: "numpy 1.19", _COPY: "numpy 2.0"})


@patch("numpy")
def _makers(numpy: Any) -> None:
    """Programs make many small arrays: the way by which all goes well takes a tenth of a microsecond more."""
    for maker in ("array", "asarray", "asanyarray"):
        put(numpy, maker, _maker(getattr(numpy, maker)))


def _maker(real: Any) -> Any:
    @functools.wraps(real)
    def make(object: Any = NOT_OURS, dtype: Any = None, *positional: Any, **others: Any) -> Any:
        if object is NOT_OURS:
            return make(others.pop("a"), dtype, **others) if "a" in others else real(dtype=dtype, **others)
        try:
            return real(object, dtype, *positional, **others) if positional or others else real(object, dtype)
        except (ValueError, OverflowError, TypeError, NotImplementedError) as error:
            arguments = _mended(error, real.__name__, object, dtype, positional, others)
            if arguments is None:
                raise
            return make(*arguments, **others)

    return make


def _mended(error: Exception, maker: str, object: Any, dtype: Any, positional: Any, others: dict[str, Any]) -> tuple[Any, ...] | None:
    """Arguments with which numpy makes what it once made of these; None where the error is right."""
    text = str(error)
    if isinstance(error, NotImplementedError):
        if isinstance(object, (list, tuple)) and (dtype is None or np.dtype(dtype) == np.object_):
            note(_UNWILLING)
            return _array_of_things(object), np.object_
    elif isinstance(error, OverflowError) and dtype is not None and np.dtype(dtype).kind in "iu" and "out of bounds" in text:
        # They were taken modulo the range of the type.
        values = np.array(object)
        if values.dtype.kind in "iu":
            note(_OUT_OF_BOUNDS)
            return values.astype(dtype), dtype
    elif isinstance(error, TypeError) and positional and maker == "array":
        note(_POSITIONS)
        others |= dict(zip(("copy", "order", "subok", "ndmin"), positional))
        return object, dtype
    elif "Unable to avoid copy" in text and others.get("copy") is False and maker == "array":
        note(_COPY)
        others["copy"] = None
        return object, dtype
    elif "inhomogeneous" in text and dtype is None:
        note(_RAGGED)
        warnings.warn(
            "Creating an ndarray from ragged nested sequences (which is a list-or-tuple of lists-or-tuples-or ndarrays with different "
            "lengths or shapes) is deprecated. If you meant to do this, you must specify 'dtype=object' when creating the ndarray.",
            np.exceptions.VisibleDeprecationWarning if _newer("1.25.0") else DeprecationWarning,
            stacklevel=3,
        )
        return object, np.object_
    return None


def _array_of_things(nested: Any) -> np.ndarray:
    """An array of what stands in lists, whatever it is; lists of different lengths stay lists."""
    shape: tuple[int, ...] = ()
    level = [nested]
    while level and all(isinstance(v, (list, tuple)) and len(v) == len(level[0]) for v in level):
        shape += (len(level[0]),)
        level = [item for v in level for item in v]
    made = np.empty(len(level), np.object_)
    for i, item in enumerate(level):
        made[i] = item
    return made.reshape(shape)


def _of_ragged(error: Any, real: Any, a: Any, *args: Any) -> Any:
    return real(np.asarray(a), *args) if "inhomogeneous" in str(error) else NOT_OURS


for _asked in ("ndim", "shape", "size"):
    otherwise("numpy", _asked, "numpy 1.24", f"np.{_asked} of lists of different lengths", ValueError)(_of_ragged)

_WITH_RAGGED = "np.max, np.concatenate, np.random.permutation and others of lists of different lengths"
_JOINERS = ("concatenate", "vstack", "hstack", "dstack", "column_stack", "stack")


def _as_objects(a: Any) -> Any:
    """A list of lists of different lengths as an array of lists; anything else as it is."""
    if not isinstance(a, (list, tuple)):
        return a
    made = np.asarray(a)
    return made if made.dtype == object else a


def _taking_ragged(error: Any, real: Any, *args: Any, **others: Any) -> Any:
    if "inhomogeneous" not in str(error) or not args:
        return NOT_OURS
    if real.__name__ in _JOINERS:
        return real([_as_objects(a) for a in args[0]], *args[1:], **others)
    return real(*map(_as_objects, args), **others)


for _taking in (
    *_JOINERS,
    *("max", "min", "amax", "amin", "sum", "prod", "any", "all", "cumsum", "argmax", "argmin", "sort", "argsort", "nonzero"),
    *("count_nonzero", "copy", "ravel", "reshape", "resize", "squeeze", "expand_dims", "transpose", "swapaxes", "flip", "flipud", "roll"),
    *("repeat", "tile", "take", "compress", "where", "append", "insert", "delete", "array_split", "zeros_like", "ones_like"),
    *("atleast_1d", "atleast_2d", "ascontiguousarray", "random.permutation"),
    *("nan_to_num", "mean", "average", "split", "isreal", "iscomplexobj"),
):
    otherwise("numpy", _taking, "numpy 1.24", _WITH_RAGGED, ValueError)(_taking_ragged)


@patch("numpy")
def _compared_ragged(numpy: Any) -> None:
    """np.array_equal hides the error: lists that it finds different are compared once more, as arrays of lists where they are ragged."""
    real = numpy.array_equal

    @functools.wraps(real)
    def array_equal(a1: Any, a2: Any, *args: Any, **others: Any) -> Any:
        found = real(a1, a2, *args, **others)
        ragged = [] if found else [_as_objects(a) for a in (a1, a2)]
        return real(*ragged, *args, **others) if ragged and (ragged[0] is not a1 or ragged[1] is not a2) else found

    put(numpy, "array_equal", array_equal)


_LISTS = "np.meshgrid, np.broadcast_arrays, np.atleast_1d and kin give lists"
TABLE[_LISTS] = "numpy 2.0"


@patch("numpy")
def _lists_of_arrays(numpy: Any) -> None:
    """Programs append to what these give."""
    for name in ("meshgrid", "broadcast_arrays", "atleast_1d", "atleast_2d", "atleast_3d"):
        put(numpy, name, _giving_a_list(getattr(numpy, name)))


def _giving_a_list(real: Any) -> Any:
    @functools.wraps(real)
    def give(*args: Any, **others: Any) -> Any:
        found = real(*args, **others)
        return list(found) if type(found) is tuple else found

    return give


_ANSWERS = {
    "compare": ("arrays == and != what they can't be broadcast with", "numpy 1.25", "elementwise comparison failed"),
    "index": (
        "a list of slices as an index",
        "numpy 1.23",
        "Using a non-tuple sequence for multidimensional indexing is deprecated; use `arr[tuple(seq)]` instead of `arr[seq]`",
    ),
    "truth": ("the truth of an empty array", "numpy 2.2", "The truth value of an empty array is ambiguous. Returning False"),
}
TABLE.update({title: gone for title, gone, _ in _ANSWERS.values()})


@patch("numpy")
def _answers(numpy: Any) -> None:
    """Such a comparison was False as a whole, and so is an empty array: `if x == []`, `x in a_list`; `x[[slice(2)] * 2]` was a part."""

    def tell(what: str) -> None:
        title, _, warning = _ANSWERS[what]
        note(title)
        warnings.warn(f"{warning}; this is an error in today's numpy.", DeprecationWarning, stacklevel=2)

    kinds = [numpy.ndarray]
    for kind in kinds:
        kinds += kind.__subclasses__()
    answer_as_once(kinds, tell)
    undoing(lambda: answer_as_today(kinds))


_SHOWN = "numbers shown as 1.5, not as np.float32(1.5)"
TABLE[_SHOWN] = "numpy 2.0"


@patch("numpy")
def _shown_as_before(numpy: Any) -> None:
    if _newer("2.0.0"):
        before = numpy.get_printoptions()["legacy"]
        numpy.set_printoptions(legacy="1.25")
        undoing(lambda: numpy.set_printoptions(legacy=before))


@otherwise("numpy", "fromstring", "numpy 2.3", "np.fromstring of bytes", ValueError)
def _fromstring(error: Any, real: Any, string: Any, dtype: Any = float, count: int = -1, *, sep: str = "", **others: Any) -> Any:
    if sep or "binary mode" not in str(error):
        return NOT_OURS
    return np.frombuffer(string.encode("latin1") if isinstance(string, str) else string, dtype, count).copy()


def _of_generator(error: Any, real: Any, arrays: Any, *args: Any, **others: Any) -> Any:
    return NOT_OURS if hasattr(arrays, "__getitem__") else real(list(arrays), *args, **others)


for _joiner in ("vstack", "hstack", "dstack", "column_stack", "stack"):
    otherwise("numpy", _joiner, "numpy 1.24", f"np.{_joiner} of a generator")(_of_generator)


@otherwise("numpy", "can_cast", "numpy 2.0", "np.can_cast of a number")
def _can_cast(error: Any, real: Any, from_: Any, to: Any, casting: str = "safe") -> Any:
    return real(np.min_scalar_type(from_), to, casting) if isinstance(from_, (int, float, complex)) else NOT_OURS


@otherwise("numpy", "histogram", "numpy 1.24", "np.histogram with normed=")
def _histogram(error: Any, real: Any, *args: Any, normed: Any = None, **others: Any) -> Any:
    return NOT_OURS if normed is None else real(*args, **{"density": normed, **others})


@otherwise("numpy", "reshape", "numpy 2.4", "np.reshape with newshape=")
def _reshape(error: Any, real: Any, a: Any, *args: Any, newshape: Any = NOT_OURS, **others: Any) -> Any:
    return NOT_OURS if newshape is NOT_OURS else real(a, newshape, *args, **others)
