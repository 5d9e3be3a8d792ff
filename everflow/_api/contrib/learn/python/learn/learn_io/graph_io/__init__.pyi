"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.inputs.reading import KEY_FEATURE_NAME as KEY_FEATURE_NAME
from everflow.contrib.learn.inputs.reading import _files as __get_file_names
_get_file_names = __get_file_names
from everflow.contrib.learn.inputs.reading import _read as __read_keyed_batch_examples_helper
_read_keyed_batch_examples_helper = __read_keyed_batch_examples_helper
from everflow.contrib.learn.inputs.reading import queue_parsed_features as queue_parsed_features
from everflow.contrib.learn.inputs.reading import read_batch_examples as read_batch_examples
from everflow.contrib.learn.inputs.reading import read_batch_features as read_batch_features
from everflow.contrib.learn.inputs.reading import read_batch_record_features as read_batch_record_features
from everflow.contrib.learn.inputs.reading import read_keyed_batch_examples as read_keyed_batch_examples
from everflow.contrib.learn.inputs.reading import read_keyed_batch_examples_shared_queue as read_keyed_batch_examples_shared_queue
from everflow.contrib.learn.inputs.reading import read_keyed_batch_features as read_keyed_batch_features
from everflow.contrib.learn.inputs.reading import read_keyed_batch_features_shared_queue as read_keyed_batch_features_shared_queue
