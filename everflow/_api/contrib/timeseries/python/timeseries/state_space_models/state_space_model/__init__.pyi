"""Written by `make index`."""
from typing import Any

from everflow.contrib.timeseries.state_space.ensembles import StateSpaceCorrelatedFeaturesEnsemble as StateSpaceCorrelatedFeaturesEnsemble
from everflow.contrib.timeseries.state_space.ensembles import StateSpaceEnsemble as StateSpaceEnsemble
from everflow.contrib.timeseries.state_space.ensembles import StateSpaceIndependentEnsemble as StateSpaceIndependentEnsemble
from everflow.contrib.timeseries.state_space.model import StateSpaceModel as StateSpaceModel
from everflow.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration as StateSpaceModelConfiguration
