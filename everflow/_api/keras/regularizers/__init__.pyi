"""Written by `make index`."""
from typing import Any

from everflow.keras.regularizers import L1L2 as L1L2
from everflow.keras.regularizers import Regularizer as Regularizer
from everflow.keras.regularizers import deserialize as deserialize
from everflow.keras.regularizers import get as get
from everflow.keras.regularizers import l1 as l1
from everflow.keras.regularizers import l1_l2 as l1_l2
from everflow.keras.regularizers import l2 as l2
from everflow.keras.regularizers import serialize as serialize
