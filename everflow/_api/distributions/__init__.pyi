"""Written by `make index`."""
from typing import Any

from everflow.distributions.bernoulli import Bernoulli as Bernoulli
from everflow.distributions.beta import Beta as Beta
from everflow.distributions.categorical import Categorical as Categorical
from everflow.distributions.dirichlet import Dirichlet as Dirichlet
from everflow.distributions.dirichlet_multinomial import DirichletMultinomial as DirichletMultinomial
from everflow.distributions.base import Distribution as Distribution
from everflow.distributions.gamma import Exponential as Exponential
from everflow.distributions.base import FULLY_REPARAMETERIZED as FULLY_REPARAMETERIZED
from everflow.distributions.gamma import Gamma as Gamma
from everflow.distributions.laplace import Laplace as Laplace
from everflow.distributions.multinomial import Multinomial as Multinomial
from everflow.distributions.base import NOT_REPARAMETERIZED as NOT_REPARAMETERIZED
from everflow.distributions.normal import Normal as Normal
from everflow.distributions.divergence import RegisterKL as RegisterKL
from everflow.distributions.base import ReparameterizationType as ReparameterizationType
from everflow.distributions.student_t import StudentT as StudentT
from everflow.distributions.uniform import Uniform as Uniform
from everflow.distributions.divergence import kl_divergence as kl_divergence
