"""Written by `make index`."""
from typing import Any

from everflow.contrib.factorization.mixtures import DIAG_COVARIANCE as DIAG_COVARIANCE
from everflow.contrib.factorization.mixtures import FULL_COVARIANCE as FULL_COVARIANCE
from everflow.contrib.factorization.mixtures import _TINY as _MEPS
MEPS = _MEPS
from everflow.contrib.factorization.mixtures import covariance as __covariance
_covariance = __covariance
from everflow.contrib.factorization.mixtures import random_points as __init_clusters_random
_init_clusters_random = __init_clusters_random
