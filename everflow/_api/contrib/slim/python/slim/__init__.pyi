"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.slim.python.slim import data as data
from everflow._api.contrib.slim.python.slim import evaluation as evaluation
from everflow._api.contrib.slim.python.slim import learning as learning
from everflow._api.contrib.slim.python.slim import queues as queues
