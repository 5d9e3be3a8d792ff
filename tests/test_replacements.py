"""What a program replaces in TensorFlow's internal modules reaches all that looks it up there, until it is put back."""

import contextlib
import importlib
from unittest import mock

import pytest

import everflow
from everflow import alias, internals
from running import run


@pytest.fixture(autouse=True)
def installed():
    alias.install()
    yield
    alias.remove()


def test_replaced_functions_are_used_by_those_that_call_them():
    import tensorflow as tf
    from tensorflow.python.ops import summary_op_util

    original = summary_op_util.summary_scope

    @contextlib.contextmanager
    def without_scopes(name, family=None, default_name=None, values=None):
        with original(name, family, default_name, values) as (tag, scope):
            yield tag.rpartition("/")[2], scope

    def tags():
        with tf.name_scope("a"):
            return [v.tag for v in tf.Summary.FromString(run(tf.summary.scalar("loss", 1.0))).value]

    summary_op_util.summary_scope = without_scopes
    assert tags() == ["loss"]
    summary_op_util.summary_scope = original
    assert tags() == ["a_1/loss"]


def test_modules_that_are_imported_meanwhile_take_part(monkeypatch):
    from tensorflow.python.ops import summary_op_util

    functions = importlib.import_module("everflow.summary.functions")
    original = functions.collect
    with mock.patch.object(summary_op_util, "collect") as collect:
        # As a module that is imported now would.
        monkeypatch.setitem(vars(functions), "imported_now", importlib.import_module("everflow.summary.naming").collect)
        assert functions.collect is functions.imported_now is collect
    assert functions.collect is functions.imported_now is original is summary_op_util.collect


def test_what_replaces_may_be_ours_and_stays_where_it_was():
    from tensorflow.python.ops import summary_op_util

    naming, functions = map(importlib.import_module, ("everflow.summary.naming", "everflow.summary.functions"))
    tags, scopes = naming.clean_tag, naming.collect
    summary_op_util.clean_tag = scopes
    assert functions.clean_tag is functions.collect is scopes
    summary_op_util.clean_tag = tags
    assert (functions.clean_tag, functions.collect) == (tags, scopes)


def test_public_names_stay_and_those_inside_see_the_replacement():
    import tensorflow as tf
    from tensorflow.python.ops import array_ops

    original = everflow.zeros_like
    with mock.patch.object(array_ops, "zeros_like", side_effect=original) as zeros_like:
        assert tf.zeros_like is original
        assert everflow.zeros_like is zeros_like
    assert everflow.zeros_like is tf.zeros_like is original


def test_a_name_that_a_module_has_from_another_is_replaced_for_what_that_module_defines():
    module = internals.module("python.training.saver")
    saver = importlib.import_module(everflow.train.Saver.__init__.__globals__["__name__"])
    elsewhere = importlib.import_module("everflow.graph.scopes")
    assert module.__name__ == "tensorflow.python.training.saver"
    thing = elsewhere.name_scope
    saver.name_scope_here, before = thing, thing
    try:
        module.name_scope_there = thing
        module.name_scope_there = 1
        assert saver.name_scope_here == 1 and elsewhere.name_scope is before
        del module.name_scope_there
        assert saver.name_scope_here is before and not hasattr(module, "name_scope_there")
    finally:
        del saver.name_scope_here


def test_numbers_are_replaced_under_their_own_name(monkeypatch):
    module = internals.module("python.ops.summary_op_util")
    naming = importlib.import_module("everflow.summary.naming")
    monkeypatch.setitem(vars(naming), "_LIMIT", 300)
    monkeypatch.setitem(vars(naming), "_OTHER", vars(naming)["_LIMIT"])
    module._LIMIT = naming._LIMIT
    vars(module)["_LIMIT"] = 7
    assert (naming._LIMIT, naming._OTHER) == (7, 300)
    with mock.patch.dict(vars(module), _LIMIT=8):
        assert naming._LIMIT == 8
    del module._LIMIT
    assert naming._LIMIT == 300


def test_names_that_tensorflow_does_not_have_concern_nobody():
    from tensorflow.python.ops import summary_op_util

    summary_op_util.mine = 1
    summary_op_util.mine = 2
    assert summary_op_util.mine == 2
    del summary_op_util.mine
    with pytest.raises(AttributeError, match="mine"):
        _ = summary_op_util.mine


def test_a_replacement_with_the_signature_of_what_it_replaces_is_put_back():
    gfile = internals.module("python.platform.gfile")
    before = gfile.Glob
    with mock.patch.object(gfile, "Glob", autospec=True, return_value=["found"]):
        assert gfile.Glob("x") == ["found"]
    assert gfile.Glob is before
