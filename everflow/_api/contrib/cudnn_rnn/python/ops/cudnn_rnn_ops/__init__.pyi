"""Written by `make index`."""
from typing import Any

from everflow.contrib.cudnn_rnn.functions import GRU as _CUDNN_GRU
CUDNN_GRU = _CUDNN_GRU
CUDNN_GRU_PARAMS_PER_LAYER: Any
from everflow.contrib.cudnn_rnn.functions import AUTO as _CUDNN_INPUT_AUTO_MODE
CUDNN_INPUT_AUTO_MODE = _CUDNN_INPUT_AUTO_MODE
from everflow.contrib.cudnn_rnn.functions import LINEAR as _CUDNN_INPUT_LINEAR_MODE
CUDNN_INPUT_LINEAR_MODE = _CUDNN_INPUT_LINEAR_MODE
from everflow.contrib.cudnn_rnn.functions import SKIP as _CUDNN_INPUT_SKIP_MODE
CUDNN_INPUT_SKIP_MODE = _CUDNN_INPUT_SKIP_MODE
from everflow.contrib.cudnn_rnn.functions import LSTM as _CUDNN_LSTM
CUDNN_LSTM = _CUDNN_LSTM
CUDNN_LSTM_PARAMS_PER_LAYER: Any
from everflow.contrib.cudnn_rnn.functions import BIDIRECTIONAL as _CUDNN_RNN_BIDIRECTION
CUDNN_RNN_BIDIRECTION = _CUDNN_RNN_BIDIRECTION
from everflow.contrib.cudnn_rnn.functions import RELU as _CUDNN_RNN_RELU
CUDNN_RNN_RELU = _CUDNN_RNN_RELU
CUDNN_RNN_RELU_PARAMS_PER_LAYER: Any
from everflow.contrib.cudnn_rnn.functions import TANH as _CUDNN_RNN_TANH
CUDNN_RNN_TANH = _CUDNN_RNN_TANH
CUDNN_RNN_TANH_PARAMS_PER_LAYER: Any
from everflow.contrib.cudnn_rnn.functions import UNIDIRECTIONAL as _CUDNN_RNN_UNIDIRECTION
CUDNN_RNN_UNIDIRECTION = _CUDNN_RNN_UNIDIRECTION
from everflow.contrib.cudnn_rnn.functions import CudnnGRU as CudnnGRU
from everflow.contrib.cudnn_rnn.functions import CudnnLSTM as CudnnLSTM
from everflow.contrib.cudnn_rnn.saveables import CudnnOpaqueParamsSaveable as CudnnOpaqueParamsSaveable
from everflow.contrib.cudnn_rnn.converters import CudnnParamsFormatConverter as CudnnParamsFormatConverter
from everflow.contrib.cudnn_rnn.converters import CudnnParamsFormatConverterBasic as CudnnParamsFormatConverterBasic
from everflow.contrib.cudnn_rnn.functions import CudnnRNNRelu as CudnnRNNRelu
from everflow.contrib.cudnn_rnn.functions import CudnnRNNTanh as CudnnRNNTanh
from everflow.contrib.cudnn_rnn.functions import _Network as __CudnnRNN
_CudnnRNN = __CudnnRNN
from everflow.contrib.cudnn_rnn.functions import _OneState as __CudnnRNNNoInputC
_CudnnRNNNoInputC = __CudnnRNNNoInputC
from everflow.contrib.cudnn_rnn.functions import check_rnn_mode as __check_rnn_mode
_check_rnn_mode = __check_rnn_mode
from everflow.contrib.cudnn_rnn.functions import cudnn_rnn as __cudnn_rnn
_cudnn_rnn = __cudnn_rnn
from everflow.contrib.cudnn_rnn.functions import cudnn_rnn_of_one_state as __cudnn_rnn_no_input_c
_cudnn_rnn_no_input_c = __cudnn_rnn_no_input_c
from everflow.contrib.cudnn_rnn.functions import number_of_matrices as __get_num_params
_get_num_params = __get_num_params
from everflow.contrib.cudnn_rnn.functions import check_direction as check_direction
from everflow.contrib.cudnn_rnn.functions import check_input_mode as check_input_mode
from everflow.contrib.cudnn_rnn.functions import cudnn_gru as cudnn_gru
from everflow.contrib.cudnn_rnn.functions import cudnn_lstm as cudnn_lstm
from everflow.contrib.cudnn_rnn.functions import canonical_to_opaque_params as _cudnn_rnn_canonical_to_opaque_params
cudnn_rnn_canonical_to_opaque_params = _cudnn_rnn_canonical_to_opaque_params
from everflow.contrib.cudnn_rnn.functions import opaque_params_size as _cudnn_rnn_opaque_params_size
cudnn_rnn_opaque_params_size = _cudnn_rnn_opaque_params_size
from everflow.contrib.cudnn_rnn.functions import opaque_params_to_canonical as _cudnn_rnn_opaque_params_to_canonical
cudnn_rnn_opaque_params_to_canonical = _cudnn_rnn_opaque_params_to_canonical
from everflow.contrib.cudnn_rnn.functions import cudnn_rnn_relu as cudnn_rnn_relu
from everflow.contrib.cudnn_rnn.functions import cudnn_rnn_tanh as cudnn_rnn_tanh
