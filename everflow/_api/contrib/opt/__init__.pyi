"""Written by `make index`."""
from typing import Any

from everflow.contrib.opt.averaging import AGNCustomGetter as AGNCustomGetter
from everflow.contrib.opt.averaging import AGNOptimizer as AGNOptimizer
from everflow.contrib.opt.adamax import AdaMaxOptimizer as AdaMaxOptimizer
from everflow.contrib.opt.adam_by_step import AdamGSOptimizer as AdamGSOptimizer
from everflow.contrib.opt.weight_decay import AdamWOptimizer as AdamWOptimizer
from everflow.contrib.opt.sign_updates import AddSignOptimizer as AddSignOptimizer
from everflow.contrib.opt.weight_decay import DecoupledWeightDecayExtension as DecoupledWeightDecayExtension
from everflow.contrib.opt.wrapping import DropStaleGradientOptimizer as DropStaleGradientOptimizer
from everflow.contrib.opt.averaging import ElasticAverageCustomGetter as ElasticAverageCustomGetter
from everflow.contrib.opt.averaging import ElasticAverageOptimizer as ElasticAverageOptimizer
from everflow.contrib.opt.external import ExternalOptimizerInterface as ExternalOptimizerInterface
from everflow.contrib.opt.ggt import GGTOptimizer as GGTOptimizer
from everflow.contrib.opt.lars import LARSOptimizer as LARSOptimizer
from everflow.contrib.opt.adam_by_step import LazyAdamGSOptimizer as LazyAdamGSOptimizer
from everflow.contrib.opt.lazy_adam import LazyAdamOptimizer as LazyAdamOptimizer
from everflow.contrib.opt.averaging import ModelAverageCustomGetter as ModelAverageCustomGetter
from everflow.contrib.opt.averaging import ModelAverageOptimizer as ModelAverageOptimizer
from everflow.contrib.opt.weight_decay import MomentumWOptimizer as MomentumWOptimizer
from everflow.contrib.opt.moving_average import MovingAverageOptimizer as MovingAverageOptimizer
from everflow.contrib.opt.wrapping import MultitaskOptimizerWrapper as MultitaskOptimizerWrapper
from everflow.contrib.opt.nadam import NadamOptimizer as NadamOptimizer
from everflow.contrib.opt.sign_updates import PowerSignOptimizer as PowerSignOptimizer
from everflow.contrib.opt.reg_adagrad import RegAdagradOptimizer as RegAdagradOptimizer
from everflow.contrib.opt.external import ScipyOptimizerInterface as ScipyOptimizerInterface
from everflow.contrib.opt.shampoo import ShampooOptimizer as ShampooOptimizer
from everflow.contrib.opt.wrapping import VariableClippingOptimizer as VariableClippingOptimizer
from everflow.contrib.opt.wrapping import clip_gradients_by_global_norm as clip_gradients_by_global_norm
from everflow.contrib.opt.weight_decay import extend_with_decoupled_weight_decay as extend_with_decoupled_weight_decay
from everflow._api.contrib.opt import python as python
