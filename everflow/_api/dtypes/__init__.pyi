"""Written by `make index`."""
from typing import Any

from everflow.graph.dtypes import DType as DType
from everflow.graph.dtypes import QUANTIZED_DTYPES as QUANTIZED_DTYPES
from everflow.graph.dtypes import as_dtype as as_dtype
from everflow.ops.strings.elements import as_string as as_string
from everflow.graph.dtypes import bfloat16 as bfloat16
from everflow.graph.dtypes import bool as bool
from everflow.ops.arrays.casting import cast as cast
from everflow.ops.math.complex_numbers import complex as complex
from everflow.graph.dtypes import complex128 as complex128
from everflow.graph.dtypes import complex64 as complex64
from everflow.graph.dtypes import double as double
from everflow.graph.dtypes import float16 as float16
from everflow.graph.dtypes import float32 as float32
from everflow.graph.dtypes import float64 as float64
from everflow.graph.dtypes import half as half
from everflow.graph.dtypes import int16 as int16
from everflow.graph.dtypes import int32 as int32
from everflow.graph.dtypes import int64 as int64
from everflow.graph.dtypes import int8 as int8
from everflow.graph.dtypes import qint16 as qint16
from everflow.graph.dtypes import qint32 as qint32
from everflow.graph.dtypes import qint8 as qint8
from everflow.graph.dtypes import quint16 as quint16
from everflow.graph.dtypes import quint8 as quint8
from everflow.graph.dtypes import resource as resource
from everflow.ops.arrays.casting import saturate_cast as saturate_cast
from everflow.graph.dtypes import string as string
from everflow.graph.dtypes import uint16 as uint16
from everflow.graph.dtypes import uint32 as uint32
from everflow.graph.dtypes import uint64 as uint64
from everflow.graph.dtypes import uint8 as uint8
from everflow.graph.dtypes import variant as variant
