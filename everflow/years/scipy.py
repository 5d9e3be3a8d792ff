"""What scipy dropped since 1.0: images in scipy.misc, numpy's functions under its name, names that moved."""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import PathFinder
from typing import Any

from everflow.years.shims import methods, module_rule, modules, names, own


def _of(module: str, name: str) -> Any:
    return lambda: getattr(importlib.import_module(module), name)


# numpy's functions, which were scipy's as well.
_NUMPY = """
    absolute add all allclose angle any append arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argsort
    argwhere array array_equal asarray asmatrix average bincount bool_ broadcast c_ ceil clip column_stack complex128 complex64
    complexfloating concatenate conj conjugate convolve copy corrcoef correlate cos cosh cov cross cumprod cumsum deg2rad degrees diag
    diff divide dot dtype e empty empty_like equal exp expand_dims expm1 eye fabs fix flatnonzero fliplr flipud float32 float64 floor
    fmod fromfile fromstring genfromtxt gradient hamming hanning histogram hstack hypot identity imag in1d indices inf infty inner
    insert int16 int32 int64 int8 interp intersect1d isfinite isinf isnan isreal kaiser kron less linspace load loadtxt log log10 log1p
    log2 logical_and logical_not logical_or logspace mat matrix max maximum mean median meshgrid mgrid min minimum mod multiply nan
    nanmax nanmean nanmin nanstd nansum ndarray ndim newaxis nonzero ones ones_like outer percentile pi poly1d polyfit polyval power
    prod ptp r_ rad2deg radians ravel real repeat reshape resize roll rot90 round_ save savetxt savez searchsorted shape sign sin sinc
    sinh size sort split sqrt square squeeze stack std subtract sum swapaxes take tan tanh tensordot tile trace transpose trapz tril
    triu uint16 uint32 uint64 uint8 union1d unique unwrap vander var vdot vectorize vstack where zeros zeros_like
""".split()
names("scipy", "scipy 1.12", {name: _of("numpy", name) for name in _NUMPY})
names(
    "scipy",
    "scipy 1.12",
    rand=_of("numpy.random", "rand"),
    randn=_of("numpy.random", "randn"),
    ifft=_of("numpy.fft", "ifft"),
    random=lambda: importlib.import_module("numpy.random"),
    misc=lambda: importlib.import_module("scipy.misc"),
)

_misc = own("scipy_misc")
_IMAGES = ("imread", "imsave", "imresize", "imrotate", "imfilter", "imshow", "toimage", "fromimage", "bytescale")
for _home in ("scipy.misc", "scipy.misc.common"):
    names(_home, "scipy 1.2", {name: _of("everflow.years.modules.scipy_misc", name) for name in _IMAGES})
    names(_home, "scipy 1.3", {name: _of("scipy.special", name) for name in ("logsumexp", "comb", "factorial", "factorial2", "factorialk")})
    names(_home, "scipy 1.3", info=_of("numpy", "info"))
    names(_home, "scipy 1.12", {name: _of("scipy.datasets", name) for name in ("face", "ascent", "electrocardiogram")})
modules("scipy 1.2", {"scipy.misc": _misc, "scipy.misc.pilutil": _misc, "scipy.misc.common": _misc})

_WINDOWS = """
    barthann bartlett blackman blackmanharris bohman boxcar chebwin cosine exponential flattop gaussian general_gaussian
    hamming hann kaiser nuttall parzen triang tukey
""".split()
names("scipy.signal", "scipy 1.13", {name: _of("scipy.signal.windows", name) for name in _WINDOWS})
names("scipy.signal", "scipy 1.3", hanning=_of("scipy.signal.windows", "hann"))
names(
    "scipy.integrate",
    "scipy 1.14",
    trapz=_of("scipy.integrate", "trapezoid"),
    simps=_of("scipy.integrate", "simpson"),
    cumtrapz=_of("scipy.integrate", "cumulative_trapezoid"),
)
names("scipy.linalg", "scipy 1.9", pinv2=_of("scipy.linalg", "pinv"))
names("scipy.linalg", "scipy 1.13", tril=_of("numpy", "tril"), triu=_of("numpy", "triu"), kron=_of("numpy", "kron"))
names("scipy.stats", "scipy 1.12", binom_test=lambda: binom_test)
names(
    "scipy.stats",
    "scipy 1.3",
    itemfreq=lambda: itemfreq,
    nanmean=_of("numpy", "nanmean"),
    nanstd=_of("numpy", "nanstd"),
    chisqprob=_of("scipy.special", "chdtrc"),
)
names("scipy.spatial.distance", "scipy 1.8", wminkowski=lambda: wminkowski, matching=_of("scipy.spatial.distance", "hamming"))
modules(
    "scipy 1.8",
    {
        f"scipy.sparse.linalg.eigen{rest}": lambda: importlib.import_module("scipy.sparse.linalg")
        for rest in ("", ".arpack", ".arpack.arpack", ".lobpcg")
    },
)
names(
    "scipy.sparse.linalg",
    "scipy 1.8",
    eigen=lambda: importlib.import_module("scipy.sparse.linalg"),
    arpack=lambda: importlib.import_module("scipy.sparse.linalg"),
)
# Today it is a module, in which imports look for no others.
names("scipy.sparse.linalg.eigen", "scipy 1.8", arpack=lambda: importlib.import_module("scipy.sparse.linalg"), __path__=lambda: [])
names("scipy.misc", "scipy 1.3", __path__=lambda: [])

for _kind in ("csr_matrix", "csc_matrix", "coo_matrix", "lil_matrix", "dok_matrix", "bsr_matrix", "dia_matrix"):
    methods("scipy.sparse", _kind, "scipy 1.14", A=property(lambda matrix: matrix.toarray()), H=property(lambda matrix: matrix.conj().T))


@module_rule("scipy 1.8 to 1.14", "modules of scipy that now begin with _")
def _private_now(name: str) -> Any:
    """scipy.integrate.quadrature is scipy.integrate._quadrature now."""
    if not name.startswith("scipy."):
        return None
    package, _, last = name.rpartition(".")
    found = PathFinder.find_spec(f"{package}._{last}", getattr(sys.modules.get(package), "__path__", []))
    return found and (lambda: importlib.import_module(f"{package}._{last}"))


def binom_test(x: Any, n: Any = None, p: float = 0.5, alternative: str = "two-sided") -> float:
    from scipy import stats

    successes, trials = (x, n) if n is not None else (x[0], x[0] + x[1])
    return stats.binomtest(int(successes), int(trials), p, alternative).pvalue


def itemfreq(a: Any) -> Any:
    import numpy as np

    return np.column_stack(np.unique(a, return_counts=True))


def wminkowski(u: Any, v: Any, p: float, w: Any) -> float:
    """Weights the differences themselves, where minkowski weights their powers."""
    import numpy as np
    from scipy.spatial import distance

    return distance.minkowski(u, v, p, np.power(w, p))
