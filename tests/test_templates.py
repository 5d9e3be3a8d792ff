"""tf.make_template: what templates inside others share, and what checkpoints and models see of them."""

import contextlib

import pytest

import everflow as tf
from everflow.eager.context import eager_mode, graph_mode
from everflow.internals import module


def dummy():
    return tf.get_variable("dummy", [1], initializer=tf.zeros_initializer())


def two_inside():
    return tf.make_template("nested", dummy)(), tf.make_template("nested", dummy)()


@pytest.fixture(params=[graph_mode, eager_mode], ids=["graph", "eager"])
def mode(request):
    with request.param(), tf.Graph().as_default() if request.param is graph_mode else request.param():
        yield


def test_templates_inside_make_their_variables_once(mode):
    outer, other = tf.make_template("s1", two_inside), tf.make_template("s1", two_inside)
    first = outer()
    assert [v.name for v in first] == ["s1/nested/dummy:0", "s1/nested_1/dummy:0"]
    assert all(a is b for a, b in zip(first, outer()))
    assert [v.name for v in other()] == ["s1_1/nested/dummy:0", "s1_1/nested_1/dummy:0"]
    assert [v.name for v in outer.variables] == [v.name for v in first]


def test_checkpoints_reach_variables_through_the_templates_inside(mode):
    outer = tf.make_template("s1", two_inside)
    variables = outer()
    inside = outer._checkpoint_dependencies
    assert [reference.name for reference in inside] == ["nested", "nested_1"]
    assert [[r.name for r in reference.ref._checkpoint_dependencies] for reference in inside] == [["dummy"], ["dummy"]]
    assert inside[1].ref.variables[0] is variables[1]


def test_models_have_the_weights_of_templates_but_no_losses(mode):
    model = tf.keras.Model()
    template = tf.make_template("s1", two_inside)
    template()
    model.one, model.several = template, [template]
    # The template is in two attributes: 1.15 counts its variables twice.
    assert len(model.variables) == 4
    assert model.losses == model.updates == model.layers == model.several.layers == model.several.losses == []


def test_variables_of_eager_templates_are_in_collections(eager):
    def part():
        other = tf.get_variable("other", [1], trainable=False, collections=["mine"])
        return tf.get_variable("w", [1]) + other

    template = tf.make_template("t", part)
    template(), template()
    assert [v.name for v in tf.global_variables()] == [v.name for v in tf.trainable_variables()] == ["t/w:0"]
    assert [v.name for v in tf.get_collection("mine")] == ["t/other:0"]
    with template._template_store.as_default():
        assert tf.get_variable("t/w", [1]) is tf.global_variables()[0]


def test_a_template_in_eager_mode_keeps_what_the_scope_around_it_says(eager):
    def local(getter, *args, **kwargs):
        return getter(*args, **{**kwargs, "trainable": False, "collections": ["mine"]})

    with tf.Graph().as_default(), eager_mode():
        with tf.variable_scope("around", custom_getter=local):
            template = tf.make_template("t", lambda: tf.get_variable("v", [2]), create_scope_now_=True)
        first = template()
        assert template() is first
        assert tf.get_collection("mine") == [first]
        assert not tf.global_variables() and not first.trainable


def test_functions_share_the_variables_of_the_graph_around_them(graph):
    template = tf.make_template("t", lambda x: tf.matmul(x, tf.get_variable("v", [1, 3])))
    function = tf.contrib.eager.defun(template)
    assert [function(tf.zeros([size, 1])).shape.as_list() for size in (2, 5)] == [[2, 3], [5, 3]]
    assert [v.name for v in template.trainable_variables] == ["t/v:0"]
    with tf.variable_scope("t", reuse=True):
        assert tf.get_variable("v", [1, 3]) is template.trainable_variables[0]


def test_variables_of_a_function_are_in_the_store_around_it(eager):
    store = module("python.ops.variable_scope").EagerVariableStore()
    with store.as_default():
        tf.contrib.eager.defun(lambda: tf.get_variable("v", [2]) + 1)()
    assert [v.name for v in store.variables()] == ["v:0"]


def test_a_template_made_anew_in_each_call_shares_the_variables_of_the_first(eager):
    made = []

    def build(x):
        made.append(tf.make_template("part", lambda x: x + tf.get_variable("v", [], initializer=tf.ones_initializer()), True))
        return made[-1](x)

    inner = tf.make_template("inner", build, True)
    outer = tf.make_template("outer", lambda x: inner(inner(inner(x))), True)
    assert outer(0.0).numpy() == 3
    assert len({part.variable_scope_name for part in made}) == 1
    # It is part of what its scope is below of, by the call that made the variable.
    assert inner._lookup_dependency("part") is made[0] and not outer._checkpoint_dependencies


def test_what_captures_variables_inside_is_part_of_a_template(mode):
    class Manual(tf.contrib.checkpoint.Checkpointable):
        def __call__(self):
            with tf.variable_scope("manual") as self.variable_scope, tf.contrib.checkpoint.capture_dependencies(self):
                return tf.get_variable("w", [])

    def build():
        own = tf.get_variable("v", [])
        manual = Manual()
        return own, manual, manual()

    template = tf.make_template("t", build)
    own, manual, w = template()
    assert [(r.name, r.ref) for r in template._checkpoint_dependencies] == [("v", own), ("manual", manual)]
    assert [(r.name, r.ref) for r in manual._checkpoint_dependencies] == [("w", w)]


def test_a_checkpoint_waits_for_the_variables_of_templates_inside(mode, tmp_path):
    def build():
        parts = [tf.make_template(name, lambda: tf.get_variable("v", [2], initializer=tf.zeros_initializer())) for name in ("a", "b")]
        return [part() for part in parts]

    def value(variable):
        return variable.numpy().tolist() if tf.executing_eagerly() else session.run(variable).tolist()

    def assign(variable, new):
        return variable.assign(new) if tf.executing_eagerly() else session.run(variable.assign(new))

    with contextlib.nullcontext() if tf.executing_eagerly() else tf.Session() as session:
        saved = tf.make_template("saved", build)
        root = tf.train.Checkpoint(template=saved)
        for number, variable in enumerate(saved()):
            assign(variable, [number, 5.0])
        path = root.save(str(tmp_path / "model"))
        loaded = tf.make_template("loaded", build)
        status = tf.train.Checkpoint(template=loaded).restore(path)
        found = loaded()
        status.assert_consumed().run_restore_ops()
        assert [value(variable) for variable in found] == [[0, 5], [1, 5]]
