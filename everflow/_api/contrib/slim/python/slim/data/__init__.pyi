"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.slim.python.slim.data import data_decoder as data_decoder
from everflow._api.contrib.slim.python.slim.data import data_provider as data_provider
from everflow._api.contrib.slim.python.slim.data import dataset as dataset
from everflow._api.contrib.slim.python.slim.data import dataset_data_provider as dataset_data_provider
from everflow._api.contrib.slim.python.slim.data import parallel_reader as parallel_reader
from everflow._api.contrib.slim.python.slim.data import prefetch_queue as prefetch_queue
from everflow._api.contrib.slim.python.slim.data import tfexample_decoder as tfexample_decoder
