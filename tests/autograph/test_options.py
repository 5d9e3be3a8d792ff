import ast

import pytest

import everflow as tf
from everflow.autograph.conversion_api import ConversionError
from everflow.autograph.features import Feature
from everflow.eager.context import eager_mode

autograph = tf.contrib.autograph


def test_options():
    options = autograph.ConversionOptions(recursive=True, user_requested=True, optional_features=(Feature.LISTS,))
    assert options.as_tuple() == (True, True, True, frozenset([Feature.LISTS]))
    assert options.uses(Feature.LISTS) and not options.uses(Feature.NAME_SCOPES)
    assert options.call_options().as_tuple() == (True, False, True, frozenset([Feature.LISTS]))
    default = autograph.ConversionOptions()
    assert default.uses(Feature.LISTS) and default.call_options().as_tuple()[2] is False
    assert default == autograph.ConversionOptions() and hash(default) == hash(autograph.ConversionOptions())
    assert default != options
    made = eval(compile(ast.Expression(options.to_ast()), "", "eval"), {"ag__": _Names})
    assert made == options


class _Names:
    ConversionOptions = autograph.ConversionOptions
    Feature = Feature


def test_lists_are_stacked():
    with eager_mode():
        elements = tf.raw_ops.TensorListFromTensor(tensor=tf.constant([1, 2, 3]), element_shape=tf.constant([], tf.int32))
        assert autograph.stack(elements, element_dtype=tf.int32).numpy().tolist() == [1, 2, 3]
        with pytest.raises(ValueError, match="cannot stack a list without knowing its element type"):
            autograph.stack(elements)
        whole = tf.constant([1, 2])
        assert autograph.stack(whole) is whole
        assert autograph.stack([1, 2], strict=False) == [1, 2]
        with pytest.raises(ValueError, match="must be stackable when strict=True"):
            autograph.stack([1, 2])
        assert autograph.set_element_type([], tf.int32) is None


def test_conversion_errors_are_of_autograph():
    assert issubclass(ConversionError, autograph.AutoGraphError)
