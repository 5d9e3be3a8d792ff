"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.opt.python.training import agn_optimizer as agn_optimizer
from everflow._api.contrib.opt.python.training import elastic_average_optimizer as elastic_average_optimizer
from everflow._api.contrib.opt.python.training import matrix_functions as matrix_functions
from everflow._api.contrib.opt.python.training import model_average_optimizer as model_average_optimizer
from everflow._api.contrib.opt.python.training import shampoo as shampoo
from everflow._api.contrib.opt.python.training import sign_decay as sign_decay
