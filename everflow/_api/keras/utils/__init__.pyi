"""Written by `make index`."""
from typing import Any

from everflow.keras.serialization import CustomObjectScope as CustomObjectScope
from everflow.keras.enqueuers import GeneratorEnqueuer as GeneratorEnqueuer
from everflow.keras.hdf5_matrix import HDF5Matrix as HDF5Matrix
from everflow.keras.enqueuers import OrderedEnqueuer as OrderedEnqueuer
from everflow.keras.progress import Progbar as Progbar
from everflow.keras.enqueuers import Sequence as Sequence
from everflow.keras.enqueuers import SequenceEnqueuer as SequenceEnqueuer
from everflow.keras.theano_kernels import convert_all_kernels_in_model as convert_all_kernels_in_model
from everflow.keras.serialization import custom_object_scope as custom_object_scope
from everflow.keras.serialization import deserialize_keras_object as deserialize_keras_object
from everflow.keras.serialization import get_custom_objects as get_custom_objects
from everflow.keras.downloads import get_file as get_file
from everflow.keras.network_order import get_source_inputs as get_source_inputs
from everflow.keras.plotting import model_to_dot as model_to_dot
from everflow.keras.multi_gpu import multi_gpu_model as multi_gpu_model
from everflow.keras.numpy_arrays import normalize as normalize
from everflow.keras.plotting import plot_model as plot_model
from everflow.keras.serialization import serialize_keras_object as serialize_keras_object
from everflow.keras.numpy_arrays import to_categorical as to_categorical
