"""Written by `make index`."""
from typing import Any

from everflow.contrib.layers.data_frame_columns import DataFrameColumn as DataFrameColumn
from everflow.contrib.layers.divisive_normalization import GDN as GDN
from everflow.feature_column.scoped import InputLayer as InputLayer
from everflow.contrib.layers.optimizing import OPTIMIZER_CLS_NAMES as OPTIMIZER_CLS_NAMES
from everflow.contrib.layers.optimizing import OPTIMIZER_SUMMARIES as OPTIMIZER_SUMMARIES
from everflow.contrib.layers.target_columns import ProblemType as ProblemType
from everflow.contrib.layers.reversible import RevBlock as RevBlock
from everflow.contrib.layers.feature_crossing import SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY as SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY
from everflow.contrib.framework.variables import VariableDeviceChooser as VariableDeviceChooser
absolute_import: Any
from everflow.contrib.layers.optimizing import adaptive_clipping_fn as adaptive_clipping_fn
from everflow.contrib.framework.arg_scopes import add_arg_scope as add_arg_scope
from everflow.contrib.framework.variables import add_model_variable as add_model_variable
from everflow.contrib.layers.regularizers import apply_regularization as apply_regularization
from everflow.contrib.framework.arg_scopes import arg_scope as arg_scope
from everflow.contrib.framework.arg_scopes import arg_scope_func_key as arg_scope_func_key
from everflow.contrib.framework.arg_scopes import arg_scoped_arguments as arg_scoped_arguments
from everflow.train.global_step import assert_global_step as assert_global_step
from everflow.train.global_step import assert_or_get_global_step as assert_or_get_global_step
from everflow.contrib.framework.variables import assign_from_checkpoint as assign_from_checkpoint
from everflow.contrib.framework.variables import assign_from_checkpoint_fn as assign_from_checkpoint_fn
from everflow.contrib.framework.variables import assign_from_values as assign_from_values
from everflow.contrib.framework.variables import assign_from_values_fn as assign_from_values_fn
from everflow.contrib.layers.pooling import avg_pool2d as avg_pool2d
from everflow.contrib.layers.pooling import avg_pool3d as avg_pool3d
from everflow.contrib.layers.normalization import batch_norm as batch_norm
from everflow.contrib.layers.core import bias_add as bias_add
from everflow.contrib.layers.target_columns import binary_svm_target as binary_svm_target
from everflow.contrib.layers.embeddings import bow_encoder as bow_encoder
from everflow.contrib.layers.bucketizing import bucketize as bucketize
from everflow.contrib.layers.feature_columns import bucketized_column as bucketized_column
from everflow.contrib.layers.feature_columns import check_feature_columns as check_feature_columns
from everflow.contrib.layers.convolutional import convolution1d as _conv1d
conv1d = _conv1d
from everflow.contrib.layers.convolutional import convolution2d as _conv2d
conv2d = _conv2d
from everflow.contrib.layers.convolutional import convolution2d_in_plane as _conv2d_in_plane
conv2d_in_plane = _conv2d_in_plane
from everflow.contrib.layers.convolutional import convolution2d_transpose as _conv2d_transpose
conv2d_transpose = _conv2d_transpose
from everflow.contrib.layers.convolutional import convolution3d as _conv3d
conv3d = _conv3d
from everflow.contrib.layers.convolutional import convolution3d_transpose as _conv3d_transpose
conv3d_transpose = _conv3d_transpose
from everflow.contrib.layers.convolutional import convolution as convolution
from everflow.contrib.layers.convolutional import convolution1d as convolution1d
from everflow.contrib.layers.convolutional import convolution2d as convolution2d
from everflow.contrib.layers.convolutional import convolution2d_in_plane as convolution2d_in_plane
from everflow.contrib.layers.convolutional import convolution2d_transpose as convolution2d_transpose
from everflow.contrib.layers.convolutional import convolution3d as convolution3d
from everflow.contrib.layers.convolutional import convolution3d_transpose as convolution3d_transpose
from everflow.contrib.layers.feature_columns import create_feature_spec_for_parsing as create_feature_spec_for_parsing
from everflow.train.global_step import create_global_step as create_global_step
from everflow.contrib.layers.feature_columns import crossed_column as crossed_column
from everflow.contrib.framework.arg_scopes import current_arg_scope as current_arg_scope
from everflow._api.contrib.slim import data_decoder as data_decoder
from everflow._api.contrib.slim import data_provider as data_provider
from everflow._api.contrib.slim import dataset as dataset
from everflow._api.contrib.slim import dataset_data_provider as dataset_data_provider
from everflow.contrib.layers.embeddings import dense_to_sparse as dense_to_sparse
division: Any
from everflow.contrib.layers.core import dropout as dropout
from everflow.contrib.layers.core import elu as elu
from everflow.contrib.layers.embeddings import embed_sequence as embed_sequence
from everflow.contrib.layers.feature_vectors import embedding_column as embedding_column
from everflow.contrib.layers.embeddings import embedding_lookup_sparse_with_distributed_aggregation as embedding_lookup_sparse_with_distributed_aggregation
from everflow.contrib.layers.embeddings import embedding_lookup_unique as embedding_lookup_unique
from everflow._api.contrib.slim import evaluation as evaluation
from everflow.platform.experimental import experimental as experimental
from everflow.contrib.framework.variables import filter_variables as filter_variables
from everflow.contrib.layers.core import flatten as flatten
from everflow.contrib.layers.core import fully_connected as fully_connected
from everflow.contrib.layers.divisive_normalization import gdn as gdn
from everflow.contrib.layers.target_columns import get_default_binary_metrics_for_eval as get_default_binary_metrics_for_eval
from everflow.train.global_step import get_global_step as get_global_step
from everflow.contrib.framework.variables import get_local_variables as get_local_variables
from everflow.contrib.framework.variables import get_model_variables as get_model_variables
from everflow.train.global_step import get_or_create_global_step as get_or_create_global_step
from everflow.contrib.framework.variables import get_trainable_variables as get_trainable_variables
from everflow.contrib.framework.variables import get_unique_variable as get_unique_variable
from everflow.contrib.framework.variables import get_variable_full_name as get_variable_full_name
from everflow.contrib.framework.variables import get_variables as get_variables
from everflow.contrib.framework.variables import get_variables_by_name as get_variables_by_name
from everflow.contrib.framework.variables import get_variables_by_suffix as get_variables_by_suffix
from everflow.contrib.framework.variables import get_variables_to_restore as get_variables_to_restore
from everflow.contrib.framework.variables import global_variable as global_variable
from everflow.contrib.layers.normalization import group_norm as group_norm
from everflow.contrib.framework.arg_scopes import has_arg_scope as has_arg_scope
from everflow.contrib.layers.sequences import images_to_sequence as images_to_sequence
from everflow.contrib.layers.feature_columns import infer_real_valued_columns as infer_real_valued_columns
from everflow.contrib.layers.feature_inputs import input_from_feature_columns as input_from_feature_columns
from everflow.contrib.layers.normalization import instance_norm as instance_norm
from everflow.contrib.layers.feature_inputs import joint_weighted_sum_from_feature_columns as joint_weighted_sum_from_feature_columns
from everflow.contrib.layers.regularizers import l1_l2_regularizer as l1_l2_regularizer
from everflow.contrib.layers.regularizers import l1_regularizer as l1_regularizer
from everflow.contrib.layers.regularizers import l2_regularizer as l2_regularizer
from everflow.contrib.layers.normalization import layer_norm as layer_norm
from everflow._api.contrib.slim import learning as learning
from everflow.contrib.layers.core import legacy_fully_connected as legacy_fully_connected
from everflow.contrib.layers.core import legacy_linear as legacy_linear
from everflow.contrib.layers.core import legacy_relu as legacy_relu
from everflow.contrib.layers.core import linear as linear
from everflow.contrib.framework.variables import local_variable as local_variable
from everflow._api.contrib.slim import losses as losses
from everflow.platform.undocumented import make_all as make_all
from everflow.contrib.layers.feature_inputs import make_place_holder_tensors_for_base_features as make_place_holder_tensors_for_base_features
from everflow.contrib.layers.pooling import max_pool2d as max_pool2d
from everflow.contrib.layers.pooling import max_pool3d as max_pool3d
from everflow.contrib.layers.core import maxout as maxout
from everflow._api.contrib.slim import metrics as metrics
from everflow._api.contrib.slim import model_analyzer as model_analyzer
from everflow.contrib.framework.variables import model_variable as model_variable
from everflow.contrib.layers.target_columns import multi_class_target as multi_class_target
from everflow._api.contrib.slim import nets as nets
from everflow.contrib.layers.feature_vectors import one_hot_column as one_hot_column
from everflow.contrib.layers.core import one_hot_encoding as one_hot_encoding
from everflow.contrib.layers.optimizing import optimize_loss as optimize_loss
from everflow._api.contrib.slim import parallel_reader as parallel_reader
from everflow.contrib.layers.feature_inputs import parse_feature_columns_from_examples as parse_feature_columns_from_examples
from everflow.contrib.layers.feature_inputs import parse_feature_columns_from_sequence_examples as parse_feature_columns_from_sequence_examples
from everflow.contrib.layers.pooling import pool as pool
from everflow._api.contrib.slim import prefetch_queue as prefetch_queue
print_function: Any
from everflow._api.contrib.slim import python as python
from everflow._api.contrib.slim import queues as queues
from everflow.contrib.layers.feature_columns import real_valued_column as real_valued_column
from everflow.contrib.layers.reversible import recompute_grad as recompute_grad
from everflow.contrib.layers.target_columns import regression_target as regression_target
from everflow.contrib.layers.core import relu as relu
from everflow.contrib.layers.core import relu6 as relu6
from everflow.contrib.layers.core import repeat as repeat
from everflow.contrib.layers.reversible import rev_block as rev_block
from everflow.contrib.layers.embeddings import safe_embedding_lookup_sparse as safe_embedding_lookup_sparse
from everflow.contrib.layers.core import scale_gradient as scale_gradient
from everflow.contrib.layers.feature_vectors import scattered_embedding_column as scattered_embedding_column
from everflow.contrib.layers.scattered_embeddings import scattered_embedding_lookup as scattered_embedding_lookup
from everflow.contrib.layers.scattered_embeddings import scattered_embedding_lookup_sparse as scattered_embedding_lookup_sparse
from everflow.contrib.layers.convolutional import separable_convolution2d as _separable_conv2d
separable_conv2d = _separable_conv2d
from everflow.contrib.layers.convolutional import separable_convolution2d as separable_convolution2d
from everflow.contrib.layers.feature_inputs import sequence_input_from_feature_columns as sequence_input_from_feature_columns
from everflow.contrib.layers.sequences import sequence_to_images as sequence_to_images
from everflow.contrib.layers.feature_vectors import shared_embedding_columns as shared_embedding_columns
from everflow.contrib.layers.core import softmax as softmax
from everflow.contrib.layers.feature_columns import sparse_column_with_hash_bucket as sparse_column_with_hash_bucket
from everflow.contrib.layers.feature_columns import sparse_column_with_integerized_feature as sparse_column_with_integerized_feature
from everflow.contrib.layers.feature_columns import sparse_column_with_keys as sparse_column_with_keys
from everflow.contrib.layers.feature_columns import sparse_column_with_vocabulary_file as sparse_column_with_vocabulary_file
from everflow.contrib.layers.feature_crossing import sparse_feature_cross as sparse_feature_cross
from everflow.contrib.layers.core import spatial_softmax as spatial_softmax
from everflow.contrib.layers.core import stack as stack
from everflow.contrib.layers.regularizers import sum_regularizer as sum_regularizer
from everflow._api.contrib.slim import summaries as summaries
from everflow.contrib.layers.summaries import summarize_activation as summarize_activation
from everflow.contrib.layers.summaries import summarize_activations as summarize_activations
summarize_biases: Any
from everflow.contrib.layers.summaries import summarize_collection as summarize_collection
from everflow.contrib.layers.summaries import summarize_tensor as summarize_tensor
from everflow.contrib.layers.summaries import summarize_tensors as summarize_tensors
summarize_variables: Any
summarize_weights: Any
from everflow._api.contrib.slim import tfexample_decoder as tfexample_decoder
from everflow.contrib.layers.feature_inputs import transform_features as transform_features
from everflow.contrib.layers.normalization import unit_norm as unit_norm
from everflow._api.contrib.slim import utils as utils
from everflow.contrib.framework.variables import variable as variable
from everflow.contrib.layers.initializers import variance_scaling_initializer as variance_scaling_initializer
from everflow.contrib.layers.feature_columns import weighted_sparse_column as weighted_sparse_column
from everflow.contrib.layers.feature_inputs import weighted_sum_from_feature_columns as weighted_sum_from_feature_columns
from everflow.contrib.layers.initializers import xavier_initializer as xavier_initializer
from everflow.contrib.layers.initializers import xavier_initializer as _xavier_initializer_conv2d
xavier_initializer_conv2d = _xavier_initializer_conv2d
from everflow.contrib.framework.variables import zero_initializer as zero_initializer
