"""What tensors of a model look like: type, shape but for the batch, dense or sparse."""

from __future__ import annotations

import collections
from typing import Any

import everflow as tf
from everflow.contrib.learn.publishing import learn

_MODULE = "estimators.tensor_signature"
# The types that tf.Examples hold, for those that they don't.
_STORED = {tf.int32: tf.int64, tf.float64: tf.float32}


@learn(_MODULE, "TensorSignature")
class TensorSignature(collections.namedtuple("TensorSignature", ["dtype", "shape", "is_sparse"])):
    """Type and shape of a tensor, and whether it is sparse."""

    def __new__(cls, tensor: Any) -> TensorSignature:
        if isinstance(tensor, tf.SparseTensor):
            return super().__new__(cls, tensor.values.dtype, None, True)
        return super().__new__(cls, tensor.dtype, tensor.get_shape(), False)

    def is_compatible_with(self, other: Any) -> bool:
        """Whether tensors of the other signature may stand where these do; batches may differ in size."""
        if self.is_sparse != other.is_sparse or not self.dtype.is_compatible_with(other.dtype):
            return False
        return self.is_sparse or _same_rows(self.shape, tf.TensorShape(other.shape))

    def get_placeholder(self) -> Any:
        """A placeholder for such tensors."""
        if self.is_sparse:
            return tf.sparse_placeholder(dtype=self.dtype)
        return tf.placeholder(dtype=self.dtype, shape=[None, *self.shape[1:]])

    def get_feature_spec(self) -> Any:
        """How such a feature is parsed from tf.Examples."""
        dtype = _STORED.get(self.dtype, self.dtype)
        return tf.VarLenFeature(dtype=dtype) if self.is_sparse else tf.FixedLenFeature(shape=self.shape[1:], dtype=dtype)


def _same_rows(ours: Any, theirs: Any) -> bool:
    if ours.ndims is None or theirs.ndims is None:
        return True
    return ours.ndims == theirs.ndims and ours[1:].is_compatible_with(theirs[1:])


@learn(_MODULE, "tensors_compatible")
def tensors_compatible(tensors: Any, signatures: Any) -> bool:
    """Whether tensors have all that signatures ask for."""
    if tensors is None or signatures is None:
        return tensors is signatures
    if isinstance(tensors, dict) != isinstance(signatures, dict):
        return False
    if isinstance(tensors, dict):
        return all(key in tensors and TensorSignature(tensors[key]).is_compatible_with(wanted) for key, wanted in signatures.items())
    return TensorSignature(tensors).is_compatible_with(signatures)


def _each(function: Any, given: Any) -> Any:
    if given is None:
        return None
    return {key: function(value) for key, value in given.items()} if isinstance(given, dict) else function(given)


@learn(_MODULE, "create_signatures")
def create_signatures(tensors: Any) -> Any:
    """The signatures of tensors."""
    return _each(TensorSignature, tensors)


@learn(_MODULE, "create_placeholders_from_signatures")
def create_placeholders_from_signatures(signatures: Any) -> Any:
    """Placeholders for tensors of these signatures."""
    return _each(TensorSignature.get_placeholder, signatures)


@learn(_MODULE, "create_example_parser_from_signatures")
def create_example_parser_from_signatures(signatures: Any, examples_batch: Any, single_feature_name: str = "feature") -> Any:
    """The features of serialized tf.Examples, with the types of signatures."""
    wanted = signatures if isinstance(signatures, dict) else {single_feature_name: signatures}
    parsed = tf.parse_example(examples_batch, {name: signature.get_feature_spec() for name, signature in wanted.items()})
    for name, signature in wanted.items():
        if not signature.dtype.is_compatible_with(parsed[name].dtype):
            parsed[name] = tf.cast(parsed[name], signature.dtype)
    return parsed if isinstance(signatures, dict) else parsed[single_feature_name]
