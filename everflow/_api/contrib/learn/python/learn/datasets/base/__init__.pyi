"""Written by `make index`."""
from typing import Any

from everflow.data.mnist import Dataset as Dataset
from everflow.data.mnist import Datasets as Datasets
from everflow.contrib.learn.datasets import load_boston as load_boston
from everflow.contrib.learn.datasets import load_csv_with_header as load_csv_with_header
from everflow.contrib.learn.datasets import load_csv_without_header as load_csv_without_header
from everflow.contrib.learn.datasets import load_iris as load_iris
from everflow.data.mnist import maybe_download as maybe_download
from everflow.contrib.learn.datasets import retry as retry
from everflow.contrib.learn.datasets import shrink_csv as shrink_csv
from everflow.contrib.learn.datasets import urlretrieve_with_retry as urlretrieve_with_retry
