"""Written by `make index`."""
from typing import Any

from everflow.data.mnist import DEFAULT_SOURCE_URL as DEFAULT_SOURCE_URL
from everflow.data.mnist import DataSet as DataSet
from everflow.data.mnist import dense_to_one_hot as dense_to_one_hot
from everflow.data.mnist import extract_images as extract_images
from everflow.data.mnist import extract_labels as extract_labels
from everflow.data.mnist import load_mnist as load_mnist
from everflow.data.mnist import read_data_sets as read_data_sets
