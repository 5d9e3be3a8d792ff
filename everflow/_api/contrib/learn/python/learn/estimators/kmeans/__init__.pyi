"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.models.kmeans import KMeansClustering as KMeansClustering
