"""Written by `make index`."""
from typing import Any

from everflow.ops.nn.candidate_sampling import all_candidate_sampler as all_candidate_sampler
from everflow.ops.random.numbers import categorical as categorical
from everflow._api.random import experimental as experimental
from everflow.ops.nn.candidate_sampling import fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler
from everflow.ops.random.numbers import random_gamma as _gamma
gamma = _gamma
from everflow.ops.random.seeds import get_seed as get_seed
from everflow.ops.nn.candidate_sampling import learned_unigram_candidate_sampler as learned_unigram_candidate_sampler
from everflow.ops.nn.candidate_sampling import log_uniform_candidate_sampler as log_uniform_candidate_sampler
from everflow.ops.random.numbers import multinomial as multinomial
from everflow.ops.random.numbers import random_normal as _normal
normal = _normal
from everflow.ops.random.numbers import random_poisson as _poisson
poisson = _poisson
from everflow.ops.random.seeds import set_random_seed as set_random_seed
from everflow.ops.random.numbers import random_shuffle as _shuffle
shuffle = _shuffle
from everflow.ops.random.numbers import stateless_categorical as stateless_categorical
from everflow.ops.random.numbers import stateless_multinomial as stateless_multinomial
from everflow.ops.random.numbers import stateless_random_normal as _stateless_normal
stateless_normal = _stateless_normal
from everflow.ops.random.numbers import stateless_truncated_normal as stateless_truncated_normal
from everflow.ops.random.numbers import stateless_random_uniform as _stateless_uniform
stateless_uniform = _stateless_uniform
from everflow.ops.random.numbers import truncated_normal as truncated_normal
from everflow.ops.random.numbers import random_uniform as _uniform
uniform = _uniform
from everflow.ops.nn.candidate_sampling import uniform_candidate_sampler as uniform_candidate_sampler
