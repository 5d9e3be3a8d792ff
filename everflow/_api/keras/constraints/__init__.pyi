"""Written by `make index`."""
from typing import Any

from everflow.keras.constraints import Constraint as Constraint
from everflow.keras.constraints import MaxNorm as MaxNorm
from everflow.keras.constraints import MinMaxNorm as MinMaxNorm
from everflow.keras.constraints import NonNeg as NonNeg
from everflow.keras.constraints import RadialConstraint as RadialConstraint
from everflow.keras.constraints import UnitNorm as UnitNorm
from everflow.keras.constraints import deserialize as deserialize
from everflow.keras.constraints import get as get
from everflow.keras.constraints import MaxNorm as _max_norm
max_norm = _max_norm
from everflow.keras.constraints import MinMaxNorm as _min_max_norm
min_max_norm = _min_max_norm
from everflow.keras.constraints import NonNeg as _non_neg
non_neg = _non_neg
from everflow.keras.constraints import RadialConstraint as _radial_constraint
radial_constraint = _radial_constraint
from everflow.keras.constraints import serialize as serialize
from everflow.keras.constraints import UnitNorm as _unit_norm
unit_norm = _unit_norm
