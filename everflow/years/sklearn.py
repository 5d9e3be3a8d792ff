"""What scikit-learn dropped since 0.18."""

from __future__ import annotations

import functools
import importlib
import sys
from importlib.machinery import PathFinder
from typing import Any

from everflow.years.shims import NOT_OURS, methods, module_rule, modules, names, otherwise, own


def _of(module: str, name: str) -> Any:
    return lambda: getattr(importlib.import_module(module), name)


def _module(name: str) -> Any:
    return lambda: importlib.import_module(name)


modules(
    "scikit-learn 0.20",
    {
        "sklearn.cross_validation": own("sklearn_cross_validation"),
        "sklearn.grid_search": _module("sklearn.model_selection"),
        "sklearn.learning_curve": _module("sklearn.model_selection"),
        "sklearn.lda": _module("sklearn.discriminant_analysis"),
        "sklearn.qda": _module("sklearn.discriminant_analysis"),
    },
)
modules(
    "scikit-learn 0.23",
    {
        "sklearn.externals.joblib": _module("joblib"),
        "sklearn.externals.six": _module("six"),
        "sklearn.utils.linear_assignment_": own("sklearn_linear_assignment"),
    },
)
modules(
    "scikit-learn 0.24",
    {"sklearn.utils.testing": _module("sklearn.utils._testing"), "sklearn.datasets.samples_generator": _module("sklearn.datasets")},
)
names("sklearn", "scikit-learn 0.20", {name: _module(f"sklearn.{name}") for name in ("cross_validation", "grid_search", "learning_curve")})
names("sklearn.externals", "scikit-learn 0.23", joblib=_module("joblib"), six=_module("six"))
names("sklearn.preprocessing", "scikit-learn 0.22", Imputer=lambda: Imputer())
names("sklearn.metrics", "scikit-learn 0.23", calinski_harabaz_score=_of("sklearn.metrics", "calinski_harabasz_score"))
names("sklearn.metrics", "scikit-learn 0.23", jaccard_similarity_score=_of("sklearn.metrics", "accuracy_score"))
names("sklearn.mixture", "scikit-learn 0.20", GMM=_of("sklearn.mixture", "GaussianMixture"))
names("sklearn.datasets", "scikit-learn 0.22", fetch_mldata=lambda: fetch_mldata)


@module_rule("scikit-learn 0.24", "modules of sklearn that now begin with _")
def _private_now(name: str) -> Any:
    """sklearn.linear_model.logistic is sklearn.linear_model._logistic now."""
    package, _, last = name.rpartition(".")
    path = getattr(sys.modules.get(package), "__path__", [])
    if not name.startswith("sklearn.") or PathFinder.find_spec(f"{package}._{last}", path) is None:
        return None
    return _module(f"{package}._{last}")


@functools.cache
def Imputer() -> Any:
    """The class, which is made where it is asked for: it has scikit-learn's own for a base."""
    from sklearn.impute import SimpleImputer

    class Imputer(SimpleImputer):
        """Fills what is missing, column by column."""

        def __init__(self, missing_values: Any = "NaN", strategy: str = "mean", axis: int = 0, verbose: int = 0, copy: bool = True) -> None:
            if axis != 0:
                raise ValueError("Imputer: axis=1 is gone from scikit-learn; give the transposed array and transpose what comes back")
            super().__init__(missing_values=float("nan") if missing_values == "NaN" else missing_values, strategy=strategy, copy=copy)
            self.axis = axis
            self.verbose = verbose

    return Imputer


def fetch_mldata(dataname: str, *_: Any, **__: Any) -> Any:
    raise OSError(
        f"fetch_mldata: mldata.org is no more, so {dataname!r} can't be fetched from there. sklearn.datasets.fetch_openml has its data: "
        'fetch_openml("mnist_784", as_frame=False) is "MNIST original"'
    )


def _sparse(error: Any, real: Any, self: Any, *args: Any, sparse: Any = NOT_OURS, **others: Any) -> Any:
    return NOT_OURS if sparse is NOT_OURS else real(self, *args, sparse_output=sparse, **others)


otherwise("sklearn.preprocessing", "OneHotEncoder.__init__", "scikit-learn 1.4", "OneHotEncoder with sparse=")(_sparse)


def _without(former: dict[str, str | None]) -> Any:
    """Calls with the names that arguments have today; those of None are left out."""

    def instead(error: Any, real: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        if not former.keys() & kwargs.keys():
            return NOT_OURS
        return real(self, *args, **{today: value for name, value in kwargs.items() if (today := former.get(name, name))})

    return instead


# By class: what removed its arguments, and what they are called now.
FORMER: dict[str, tuple[str, dict[str, str | None]]] = {
    "manifold.TSNE": ("scikit-learn 1.7", {"n_iter": "max_iter"}),
    "cluster.KMeans": ("scikit-learn 1.0", {"n_jobs": None, "precompute_distances": None}),
    "cluster.AgglomerativeClustering": ("scikit-learn 1.4", {"affinity": "metric"}),
    "ensemble.AdaBoostClassifier": ("scikit-learn 1.4", {"base_estimator": "estimator", "algorithm": None}),
    "ensemble.AdaBoostRegressor": ("scikit-learn 1.4", {"base_estimator": "estimator"}),
    "ensemble.BaggingClassifier": ("scikit-learn 1.4", {"base_estimator": "estimator"}),
    "ensemble.BaggingRegressor": ("scikit-learn 1.4", {"base_estimator": "estimator"}),
    "linear_model.SGDClassifier": ("scikit-learn 0.21", {"n_iter": "max_iter"}),
    "linear_model.SGDRegressor": ("scikit-learn 0.21", {"n_iter": "max_iter"}),
    "linear_model.Perceptron": ("scikit-learn 0.21", {"n_iter": "max_iter"}),
    "linear_model.LogisticRegression": ("scikit-learn 1.8", {"multi_class": None}),
    "model_selection.GridSearchCV": ("scikit-learn 0.24", {"iid": None}),
    "model_selection.RandomizedSearchCV": ("scikit-learn 0.24", {"iid": None}),
}
for place, (gone, former) in FORMER.items():
    package, _, name = place.rpartition(".")
    title = f"{name} with {', '.join(f'{argument}=' for argument in former)}"
    otherwise(f"sklearn.{package}", f"{name}.__init__", gone, title)(_without(former))


@otherwise("sklearn.metrics", "mean_squared_error", "scikit-learn 1.6", "mean_squared_error with squared=")
def _squared(error: Any, real: Any, *args: Any, squared: Any = NOT_OURS, **others: Any) -> Any:
    if squared is NOT_OURS:
        return NOT_OURS
    return (real if squared else _of("sklearn.metrics", "root_mean_squared_error")())(*args, **others)


def _always_going_on(error: Any, real: Any, self: Any, *args: Any, **others: Any) -> Any:
    """A tolerance below zero said what None says: never stop early."""
    tol = getattr(self, "tol", None)
    if tol is None or tol >= 0:
        return NOT_OURS
    try:
        self.tol = None
        return real(self, *args, **others)
    finally:
        self.tol = tol


for kind in ("SGDClassifier", "SGDRegressor", "Perceptron", "PassiveAggressiveClassifier"):
    otherwise("sklearn.linear_model", f"{kind}.fit", "scikit-learn 1.2", "fit of linear models with a tolerance below zero", ValueError)(
        _always_going_on
    )


def _feature_names(self: Any) -> list[str]:
    return list(self.get_feature_names_out())


for kind in ("CountVectorizer", "TfidfVectorizer"):
    methods("sklearn.feature_extraction.text", kind, "scikit-learn 1.2", get_feature_names=_feature_names)
methods("sklearn.feature_extraction", "DictVectorizer", "scikit-learn 1.2", get_feature_names=_feature_names)
for kind in ("OneHotEncoder", "PolynomialFeatures"):
    methods("sklearn.preprocessing", kind, "scikit-learn 1.2", get_feature_names=_feature_names)
