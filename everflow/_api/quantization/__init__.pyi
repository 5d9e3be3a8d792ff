"""Written by `make index`."""
from typing import Any

from everflow.ops.quantization.conversions import dequantize as dequantize
from everflow.ops.quantization.fake import fake_quant_with_min_max_args as fake_quant_with_min_max_args
from everflow.ops.quantization.fake import fake_quant_with_min_max_args_gradient as fake_quant_with_min_max_args_gradient
fake_quant_with_min_max_vars: Any
fake_quant_with_min_max_vars_gradient: Any
fake_quant_with_min_max_vars_per_channel: Any
fake_quant_with_min_max_vars_per_channel_gradient: Any
from everflow.ops.quantization.conversions import quantize as quantize
from everflow.ops.quantization.conversions import quantize_and_dequantize as quantize_and_dequantize
from everflow.ops.quantization.math import quantized_concat as quantized_concat
