"""Written by `make index`."""
from typing import Any

COSINE_DISTANCE: Any
from everflow.contrib.factorization.estimators import GMM as GMM
from everflow.contrib.factorization.mixtures import GmmAlgorithm as GmmAlgorithm
from everflow.contrib.factorization.estimators import _value as _KMEANS_PLUS_PLUS_INIT
KMEANS_PLUS_PLUS_INIT = _KMEANS_PLUS_PLUS_INIT
from everflow.ops.math.kmeans import KMeans as KMeans
from everflow.contrib.factorization.estimators import KMeansClustering as KMeansClustering
RANDOM_INIT: Any
SQUARED_EUCLIDEAN_DISTANCE: Any
from everflow.contrib.factorization.estimators import WALSMatrixFactorization as WALSMatrixFactorization
from everflow.contrib.factorization.wals_model import WALSModel as WALSModel
from everflow.contrib.factorization.mixtures import gmm as gmm
from everflow._api.contrib.factorization import python as python
