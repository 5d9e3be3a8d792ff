"""Written by `make index`."""
from typing import Any

from everflow.contrib.cudnn_rnn.cells import CudnnCompatibleGRUCell as CudnnCompatibleGRUCell
from everflow.contrib.cudnn_rnn.cells import CudnnCompatibleLSTMCell as CudnnCompatibleLSTMCell
from everflow.contrib.cudnn_rnn.layers import CudnnGRU as CudnnGRU
from everflow.contrib.cudnn_rnn.saveables import CudnnGRUSaveable as CudnnGRUSaveable
from everflow.contrib.cudnn_rnn.layers import CudnnLSTM as CudnnLSTM
from everflow.contrib.cudnn_rnn.saveables import CudnnLSTMSaveable as CudnnLSTMSaveable
from everflow.contrib.cudnn_rnn.converters import CudnnParamsFormatConverterGRU as CudnnParamsFormatConverterGRU
from everflow.contrib.cudnn_rnn.converters import CudnnParamsFormatConverterLSTM as CudnnParamsFormatConverterLSTM
from everflow.contrib.cudnn_rnn.converters import CudnnParamsFormatConverterRelu as CudnnParamsFormatConverterRelu
from everflow.contrib.cudnn_rnn.converters import CudnnParamsFormatConverterTanh as CudnnParamsFormatConverterTanh
from everflow.contrib.cudnn_rnn.layers import CudnnRNNRelu as CudnnRNNRelu
from everflow.contrib.cudnn_rnn.saveables import CudnnRNNReluSaveable as CudnnRNNReluSaveable
from everflow.contrib.cudnn_rnn.layers import CudnnRNNTanh as CudnnRNNTanh
from everflow.contrib.cudnn_rnn.saveables import CudnnRNNTanhSaveable as CudnnRNNTanhSaveable
from everflow._api.contrib.cudnn_rnn import python as python
