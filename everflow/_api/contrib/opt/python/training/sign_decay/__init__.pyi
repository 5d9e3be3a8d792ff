"""Written by `make index`."""
from typing import Any

from everflow.contrib.opt.sign_decays import get_cosine_decay_fn as get_cosine_decay_fn
from everflow.contrib.opt.sign_decays import get_linear_decay_fn as get_linear_decay_fn
from everflow.contrib.opt.sign_decays import get_restart_decay_fn as get_restart_decay_fn
