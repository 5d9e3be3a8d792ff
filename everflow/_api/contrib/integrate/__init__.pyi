"""Written by `make index`."""
from typing import Any

from everflow.contrib.integrate import odeint as odeint
from everflow.contrib.integrate import odeint_fixed as odeint_fixed
