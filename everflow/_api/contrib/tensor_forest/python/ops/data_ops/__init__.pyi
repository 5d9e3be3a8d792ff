"""Written by `make index`."""
from typing import Any

from everflow.contrib.tensor_forest.data import cast_to_float as _CastToFloat
CastToFloat = _CastToFloat
from everflow.contrib.tensor_forest.data import DATA_CATEGORICAL as DATA_CATEGORICAL
from everflow.contrib.tensor_forest.data import DATA_FLOAT as DATA_FLOAT
from everflow.contrib.tensor_forest.data import KINDS as _DTYPE_TO_FTYPE
DTYPE_TO_FTYPE = _DTYPE_TO_FTYPE
from everflow.contrib.tensor_forest.data import DataColumn as DataColumn
from everflow.contrib.tensor_forest.data import DataColumnCollection as DataColumnCollection
from everflow.contrib.tensor_forest.data import column_name as _GetColumnName
GetColumnName = _GetColumnName
from everflow.contrib.tensor_forest.data import parse_data as _ParseDataTensorOrDict
ParseDataTensorOrDict = _ParseDataTensorOrDict
from everflow.contrib.tensor_forest.data import parse_labels as _ParseLabelTensorOrDict
ParseLabelTensorOrDict = _ParseLabelTensorOrDict
from everflow.contrib.tensor_forest.data import TensorForestDataSpec as TensorForestDataSpec
