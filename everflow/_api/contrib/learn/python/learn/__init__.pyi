"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.learn.python.learn import datasets as datasets
from everflow._api.contrib.learn.python.learn import estimators as estimators
from everflow._api.contrib.learn.python.learn import evaluable as evaluable
from everflow._api.contrib.learn.python.learn import experiment as experiment
from everflow._api.contrib.learn.python.learn import export_strategy as export_strategy
from everflow._api.contrib.learn.python.learn import graph_actions as graph_actions
from everflow._api.contrib.learn.python.learn import learn_io as learn_io
from everflow._api.contrib.learn.python.learn import learn_runner as learn_runner
from everflow._api.contrib.learn.python.learn import metric_spec as metric_spec
from everflow._api.contrib.learn.python.learn import models as models
from everflow._api.contrib.learn.python.learn import monitors as monitors
from everflow._api.contrib.learn.python.learn import ops as ops
from everflow._api.contrib.learn.python.learn import trainable as trainable
from everflow._api.contrib.learn.python.learn import utils as utils
