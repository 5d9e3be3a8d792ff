"""Written by `make index`."""
from typing import Any

from everflow.contrib.opt.adamax import AdaMaxOptimizer as AdaMaxOptimizer
from everflow.contrib.opt.weight_decay import AdamWOptimizer as AdamWOptimizer
from everflow.contrib.opt.sign_updates import AddSignOptimizer as AddSignOptimizer
from everflow.contrib.opt.weight_decay import DecoupledWeightDecayExtension as DecoupledWeightDecayExtension
from everflow.contrib.opt.lars import LARSOptimizer as LARSOptimizer
from everflow.contrib.opt.lazy_adam import LazyAdamOptimizer as LazyAdamOptimizer
from everflow.contrib.opt.weight_decay import MomentumWOptimizer as MomentumWOptimizer
from everflow.contrib.opt.nadam import NadamOptimizer as NadamOptimizer
from everflow.contrib.opt.sign_updates import PowerSignOptimizer as PowerSignOptimizer
from everflow.contrib.opt.reg_adagrad import RegAdagradOptimizer as RegAdagradOptimizer
from everflow.contrib.opt.weight_decay import extend_with_decoupled_weight_decay as extend_with_decoupled_weight_decay
