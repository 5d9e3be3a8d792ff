"""tf.autograph: converting by hand, source, tracebacks and what is left alone."""

import ast
import functools
import gc
import traceback

import pytest

import everflow as tf
from everflow.autograph.conversion import converted
from everflow.autograph.source import syntax_tree


def relu(x):
    """Keeps what is positive."""
    if x > 0:
        y = x
    else:
        y = x * 0
    return y


def test_to_graph_gives_a_function_for_graphs():
    made = tf.autograph.to_graph(relu)
    assert made.__name__ == "tf__relu" and made.__doc__ == relu.__doc__
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.int32, [])
        y = made(x)
        assert y.op.name == "cond/Merge"
        assert [session.run(y, {x: v}) for v in (4, -4)] == [4, 0]
    assert made(5) == 5


def test_to_code_shows_what_is_made():
    code = tf.autograph.to_code(relu)
    assert code.startswith("def tf__relu(x):\n  ")
    assert "ag__.if_(x > 0, then__, else__, ('y',), ())" in code
    compile(code, "converted", "exec")


def test_conversion_is_kept():
    assert converted(relu) is converted(relu)
    makers = [converted(lambda x, k=k: x if x > k else k) for k in (1, 2)]
    assert makers[0].__code__ is makers[1].__code__
    assert [m(0) for m in makers] == [1, 2]
    partial = converted(functools.partial(relu, -1))
    assert partial() == 0


def failing(x):
    if x > 0:
        raise ValueError("found it")
    return x


def test_tracebacks_show_the_lines_of_the_program():
    with pytest.raises(ValueError, match="found it") as caught:
        tf.autograph.to_graph(failing)(1)
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert frames[-1].filename == __file__
    assert frames[-1].line == 'raise ValueError("found it")'


def test_functions_without_source_run_as_they_are(caplog):
    space = {}
    exec("def hidden(x):\n    return x + 1", space)
    with tf.Graph().as_default():
        with caplog.at_level("WARNING", "tensorflow"):
            found = tf.function(space["hidden"])(tf.constant(1))
        assert found.dtype == tf.int32
    assert "could not be transformed and will be executed as-is" in caplog.text
    with pytest.raises(Exception, match="Unable to locate the source code"):
        tf.autograph.to_graph(space["hidden"])


def test_what_is_not_the_users_is_left_alone():
    def numbers():
        yield 1

    assert converted(tf.matmul) is tf.matmul
    assert converted(functools.reduce) is functools.reduce
    assert converted(numbers) is numbers
    assert converted(dict) is dict


def test_classes_are_converted_method_by_method():
    class Scaler:
        def __init__(self, k):
            self.k = k

        def __call__(self, x):
            if x > 0:
                return x * self.k
            return x

    made = tf.autograph.to_graph(Scaler)(3)
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(made(tf.constant(2))) == 6
        assert session.run(tf.function(Scaler(4))(tf.constant(2))) == 8


def test_lambdas_on_one_line():
    first, second = (lambda x: x if x > 0 else -x), (lambda x: x if x > 0 else 0)
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run([tf.function(f)(tf.constant(-2)) for f in (first, second)]) == [2, 0]


def test_loop_options_reach_the_loop():
    def count(x):
        while x < 10:
            tf.autograph.experimental.set_loop_options(maximum_iterations=3)
            x = x + 1
        return x

    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(tf.function(count)(tf.constant(0))) == 3


def test_equality_and_print_are_features(capfd):
    def f(x):
        print("value", x)
        if x == 3:
            return x + 1
        return x

    feature = tf.autograph.experimental.Feature
    with tf.Graph().as_default(), tf.Session() as session:
        plain = tf.function(f)(tf.constant(3))
        assert 'value Tensor("x:0"' in capfd.readouterr().out
        chosen = tf.function(f, experimental_autograph_options=feature.ALL)(tf.constant(3))
        assert session.run([plain, chosen]) == [3, 4]
    assert "value 3" in capfd.readouterr().err


def test_a_walrus_and_a_with_block():
    def f(x):
        with tf.name_scope("inside"):
            if (y := x * 2) > 4:
                x = y
        return x

    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run([tf.function(f)(tf.constant(v)) for v in (3, 1)]) == [6, 1]


def test_what_stands_for_a_function_is_called_as_it_is():
    class Proxy:
        """As decorators of wrapt are: it passes for the function, and does something of its own around it."""

        def __init__(self, function):
            self.__wrapped__ = function

        __class__ = property(lambda self: type(self.__wrapped__))

        def __getattr__(self, name):
            return getattr(self.__wrapped__, name)

        def __call__(self, *args):
            return self.__wrapped__(*args) + 100

    kept = Proxy(relu)
    assert isinstance(kept, type(relu))
    assert converted(kept)(3) == 103


def test_others_may_parse_in_the_middle_of_a_conversion():
    """Python 3.11 then raises SystemError; here each collection of garbage parses."""
    parsing = []

    def parse(phase, info):
        if phase == "start" and not parsing:
            parsing.append(ast.parse("f(a, b)"))
            parsing.clear()

    threshold = gc.get_threshold()
    gc.callbacks.append(parse)
    gc.set_threshold(5)
    try:
        trees = [syntax_tree("(lambda x: (x + 1, [x, 2, {3: 4}]))") for _ in range(20)]
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(parse)
    assert {ast.dump(t) for t in trees} == {ast.dump(ast.parse("(lambda x: (x + 1, [x, 2, {3: 4}]))"))}
    assert gc.isenabled()
