"""Written by `make index`."""
from typing import Any

from everflow.autograph.conversion_api import AutoGraphError as AutoGraphError
from everflow.autograph.options import ConversionOptions as ConversionOptions
from everflow.autograph.stack_traces import StackTraceMapper as StackTraceMapper
absolute_import: Any
from everflow.autograph.conversion_api import convert_decorator as _convert
convert = _convert
from everflow.autograph.conversion_api import converted_call as converted_call
division: Any
from everflow.autograph.conversion_api import do_not_convert as do_not_convert
print_function: Any
from everflow.autograph.options import set_element_type as set_element_type
from everflow.autograph.options import stack as stack
from everflow.autograph.conversion_api import to_code_v2 as _to_code
to_code = _to_code
from everflow.autograph.conversion_api import to_graph_v2 as _to_graph
to_graph = _to_graph
