"""Written by `make index`."""
from typing import Any

from everflow._api.contrib import autograph as autograph
from everflow._api.contrib import checkpoint as checkpoint
from everflow._api.contrib import data as data
from everflow._api.contrib import distribute as distribute
from everflow._api.contrib import eager as eager
from everflow._api.contrib import estimator as estimator
from everflow._api.contrib import feature_column as feature_column
from everflow._api.contrib import framework as framework
from everflow._api.contrib import graph_editor as graph_editor
from everflow._api.contrib import image as image
from everflow._api.contrib import layers as layers
from everflow._api.contrib import learn as learn
from everflow._api.contrib import lookup as lookup
from everflow._api.contrib import losses as losses
from everflow._api.contrib import metrics as metrics
from everflow._api.contrib import nn as nn
from everflow._api.contrib import opt as opt
from everflow._api.contrib import predictor as predictor
from everflow._api.contrib import proto as proto
from everflow._api.contrib import receptive_field as receptive_field
from everflow._api.contrib import rnn as rnn
from everflow._api.contrib import session_bundle as session_bundle
from everflow._api.contrib import signal as signal
from everflow._api.contrib import slim as slim
from everflow._api.contrib import staging as staging
from everflow._api.contrib import stateless as stateless
from everflow._api.contrib import summary as summary
from everflow._api.contrib import tensorboard as tensorboard
from everflow._api.contrib import testing as testing
from everflow._api.contrib import tpu as tpu
from everflow._api.contrib import training as training
from everflow._api.contrib import util as util
