"""Written by `make index`."""
from typing import Any

from everflow.ops.math.kmeans import KMeans as KMeans
