"""Numbers drawn for experiments: what texts of parameters may call, beside Python's `math`."""

from __future__ import annotations

import math
import random
from typing import Any

from everflow.api import public
from everflow.contrib.specs.combinators import SPECS


@public(SPECS + "Uf")
def Uf(lo: float = 0.0, hi: float = 1.0) -> float:
    """Uniform between two numbers."""
    return random.uniform(lo, hi)


@public(SPECS + "Ui")
def Ui(lo: int, hi: int) -> int:
    """A whole number between two, both of which may come."""
    return random.randint(lo, hi)


@public(SPECS + "Lf")
def Lf(lo: float, hi: float) -> float:
    """Between two numbers, uniform in its logarithm."""
    return math.exp(random.uniform(math.log(lo), math.log(hi)))


@public(SPECS + "Li")
def Li(lo: float, hi: float) -> int:
    """A whole number between two, both of which may come; small ones are likelier, as in `Lf`."""
    return math.floor(Lf(lo, hi + 1))


@public(SPECS + "Nt")
def Nt(mu: float, sigma: float, limit: float = 3.0) -> float:
    """Normal, cut off at `limit` deviations."""
    return min(max(random.gauss(mu, sigma), mu - limit * sigma), mu + limit * sigma)


# What `math` has is there by name.
MATH = {name: value for name, value in vars(math).items() if not name.startswith("_")}
for _name, _value in MATH.items():
    public(SPECS + _name)(_value)
WORDS: dict[str, Any] = {**MATH, "math": math, "random": random, "Uf": Uf, "Ui": Ui, "Lf": Lf, "Li": Li, "Nt": Nt}
