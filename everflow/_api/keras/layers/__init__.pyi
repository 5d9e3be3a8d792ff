"""Written by `make index`."""
from typing import Any

from everflow.keras.layers.recurrent import AbstractRNNCell as AbstractRNNCell
from everflow.keras.layers.core import Activation as Activation
from everflow.keras.layers.core import ActivityRegularization as ActivityRegularization
from everflow.keras.layers.merging import Add as Add
from everflow.keras.layers.attention import AdditiveAttention as AdditiveAttention
from everflow.keras.layers.noise import AlphaDropout as AlphaDropout
from everflow.keras.layers.attention import Attention as Attention
from everflow.keras.layers.merging import Average as Average
from everflow.keras.layers.pooling import AveragePooling1D as AveragePooling1D
from everflow.keras.layers.pooling import AveragePooling2D as AveragePooling2D
from everflow.keras.layers.pooling import AveragePooling3D as AveragePooling3D
from everflow.keras.layers.pooling import AveragePooling1D as _AvgPool1D
AvgPool1D = _AvgPool1D
from everflow.keras.layers.pooling import AveragePooling2D as _AvgPool2D
AvgPool2D = _AvgPool2D
from everflow.keras.layers.pooling import AveragePooling3D as _AvgPool3D
AvgPool3D = _AvgPool3D
from everflow.keras.layers.normalization import BatchNormalization as BatchNormalization
from everflow.keras.layers.wrappers import Bidirectional as Bidirectional
from everflow.keras.layers.merging import Concatenate as Concatenate
from everflow.keras.layers.convolutional import Conv1D as Conv1D
from everflow.keras.layers.convolutional import Conv2D as Conv2D
from everflow.keras.layers.transposed import Conv2DTranspose as Conv2DTranspose
from everflow.keras.layers.convolutional import Conv3D as Conv3D
from everflow.keras.layers.transposed import Conv3DTranspose as Conv3DTranspose
from everflow.keras.layers.convolutional_recurrent import ConvLSTM2D as ConvLSTM2D
from everflow.keras.layers.convolutional import Conv1D as _Convolution1D
Convolution1D = _Convolution1D
from everflow.keras.layers.convolutional import Conv2D as _Convolution2D
Convolution2D = _Convolution2D
from everflow.keras.layers.transposed import Conv2DTranspose as _Convolution2DTranspose
Convolution2DTranspose = _Convolution2DTranspose
from everflow.keras.layers.convolutional import Conv3D as _Convolution3D
Convolution3D = _Convolution3D
from everflow.keras.layers.transposed import Conv3DTranspose as _Convolution3DTranspose
Convolution3DTranspose = _Convolution3DTranspose
from everflow.keras.layers.borders import Cropping1D as Cropping1D
from everflow.keras.layers.borders import Cropping2D as Cropping2D
from everflow.keras.layers.borders import Cropping3D as Cropping3D
from everflow.keras.layers.cudnn_recurrent import CuDNNGRU as CuDNNGRU
from everflow.keras.layers.cudnn_recurrent import CuDNNLSTM as CuDNNLSTM
from everflow.keras.layers.dense import Dense as Dense
from everflow.feature_column.layers import DenseFeatures as DenseFeatures
from everflow.keras.layers.separable import DepthwiseConv2D as DepthwiseConv2D
from everflow.keras.layers.merging import Dot as Dot
from everflow.keras.layers.core import Dropout as Dropout
from everflow.keras.layers.activations import ELU as ELU
from everflow.keras.layers.embedding import Embedding as Embedding
from everflow.keras.layers.core import Flatten as Flatten
from everflow.keras.layers.recurrent_layers import GRU as GRU
from everflow.keras.layers.recurrent_cells import GRUCell as GRUCell
from everflow.keras.layers.noise import GaussianDropout as GaussianDropout
from everflow.keras.layers.noise import GaussianNoise as GaussianNoise
from everflow.keras.layers.pooling import GlobalAveragePooling1D as GlobalAveragePooling1D
from everflow.keras.layers.pooling import GlobalAveragePooling2D as GlobalAveragePooling2D
from everflow.keras.layers.pooling import GlobalAveragePooling3D as GlobalAveragePooling3D
from everflow.keras.layers.pooling import GlobalAveragePooling1D as _GlobalAvgPool1D
GlobalAvgPool1D = _GlobalAvgPool1D
from everflow.keras.layers.pooling import GlobalAveragePooling2D as _GlobalAvgPool2D
GlobalAvgPool2D = _GlobalAvgPool2D
from everflow.keras.layers.pooling import GlobalAveragePooling3D as _GlobalAvgPool3D
GlobalAvgPool3D = _GlobalAvgPool3D
from everflow.keras.layers.pooling import GlobalMaxPooling1D as _GlobalMaxPool1D
GlobalMaxPool1D = _GlobalMaxPool1D
from everflow.keras.layers.pooling import GlobalMaxPooling2D as _GlobalMaxPool2D
GlobalMaxPool2D = _GlobalMaxPool2D
from everflow.keras.layers.pooling import GlobalMaxPooling3D as _GlobalMaxPool3D
GlobalMaxPool3D = _GlobalMaxPool3D
from everflow.keras.layers.pooling import GlobalMaxPooling1D as GlobalMaxPooling1D
from everflow.keras.layers.pooling import GlobalMaxPooling2D as GlobalMaxPooling2D
from everflow.keras.layers.pooling import GlobalMaxPooling3D as GlobalMaxPooling3D
from everflow.keras.input_layer import Input as Input
from everflow.keras.input_layer import InputLayer as InputLayer
from everflow.keras.input_spec import InputSpec as InputSpec
from everflow.keras.layers.recurrent_layers import LSTM as LSTM
from everflow.keras.layers.recurrent_cells import LSTMCell as LSTMCell
from everflow.keras.layers.core import Lambda as Lambda
from everflow.keras.layer import Layer as Layer
from everflow.keras.layers.normalization import LayerNormalization as LayerNormalization
from everflow.keras.layers.activations import LeakyReLU as LeakyReLU
from everflow.keras.layers.local import LocallyConnected1D as LocallyConnected1D
from everflow.keras.layers.local import LocallyConnected2D as LocallyConnected2D
from everflow.keras.layers.core import Masking as Masking
from everflow.keras.layers.pooling import MaxPooling1D as _MaxPool1D
MaxPool1D = _MaxPool1D
from everflow.keras.layers.pooling import MaxPooling2D as _MaxPool2D
MaxPool2D = _MaxPool2D
from everflow.keras.layers.pooling import MaxPooling3D as _MaxPool3D
MaxPool3D = _MaxPool3D
from everflow.keras.layers.pooling import MaxPooling1D as MaxPooling1D
from everflow.keras.layers.pooling import MaxPooling2D as MaxPooling2D
from everflow.keras.layers.pooling import MaxPooling3D as MaxPooling3D
from everflow.keras.layers.merging import Maximum as Maximum
from everflow.keras.layers.merging import Minimum as Minimum
from everflow.keras.layers.merging import Multiply as Multiply
from everflow.keras.layers.activations import PReLU as PReLU
from everflow.keras.layers.core import Permute as Permute
from everflow.keras.layers.recurrent import RNN as RNN
from everflow.keras.layers.activations import ReLU as ReLU
from everflow.keras.layers.core import RepeatVector as RepeatVector
from everflow.keras.layers.core import Reshape as Reshape
from everflow.keras.layers.separable import SeparableConv1D as SeparableConv1D
from everflow.keras.layers.separable import SeparableConv2D as SeparableConv2D
from everflow.keras.layers.separable import SeparableConv1D as _SeparableConvolution1D
SeparableConvolution1D = _SeparableConvolution1D
from everflow.keras.layers.separable import SeparableConv2D as _SeparableConvolution2D
SeparableConvolution2D = _SeparableConvolution2D
from everflow.keras.layers.recurrent_layers import SimpleRNN as SimpleRNN
from everflow.keras.layers.recurrent_cells import SimpleRNNCell as SimpleRNNCell
from everflow.keras.layers.activations import Softmax as Softmax
from everflow.keras.layers.core import SpatialDropout1D as SpatialDropout1D
from everflow.keras.layers.core import SpatialDropout2D as SpatialDropout2D
from everflow.keras.layers.core import SpatialDropout3D as SpatialDropout3D
from everflow.keras.layers.recurrent import StackedRNNCells as StackedRNNCells
from everflow.keras.layers.merging import Subtract as Subtract
from everflow.keras.layers.activations import ThresholdedReLU as ThresholdedReLU
from everflow.keras.layers.wrappers import TimeDistributed as TimeDistributed
from everflow.keras.layers.borders import UpSampling1D as UpSampling1D
from everflow.keras.layers.borders import UpSampling2D as UpSampling2D
from everflow.keras.layers.borders import UpSampling3D as UpSampling3D
from everflow.keras.layers.wrappers import Wrapper as Wrapper
from everflow.keras.layers.borders import ZeroPadding1D as ZeroPadding1D
from everflow.keras.layers.borders import ZeroPadding2D as ZeroPadding2D
from everflow.keras.layers.borders import ZeroPadding3D as ZeroPadding3D
from everflow.keras.layers.merging import add as add
from everflow.keras.layers.merging import average as average
from everflow.keras.layers.merging import concatenate as concatenate
from everflow.keras.layer_serialization import deserialize as deserialize
from everflow.keras.layers.merging import dot as dot
from everflow.keras.layers.merging import maximum as maximum
from everflow.keras.layers.merging import minimum as minimum
from everflow.keras.layers.merging import multiply as multiply
from everflow.keras.layer_serialization import serialize as serialize
from everflow.keras.layers.merging import subtract as subtract
