"""Python's control flow on tensors inside tf.function."""

import numpy as np
import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("eager")


def run(function, *args):
    """What a traced function gives; it must be traced once for tensors of the same kind."""
    found = tf.function(function)(*[tf.constant(a) for a in args])
    return tf.nest.map_structure(lambda t: t.numpy(), found)


def test_a_branch_changes_variables():
    def f(x):
        sign = 0
        if x > 0:
            sign = 1
            x = x * 2
        elif x < 0:
            sign = -1
        return x, sign

    traced = tf.function(f)
    assert [[int(v) for v in traced(tf.constant(x))] for x in (3, -3, 0)] == [[6, 1], [-3, -1], [0, 0]]
    assert len(traced._cache) == 1


def test_returns_from_the_middle():
    def f(x):
        if x > 10:
            return x - 10
        if x > 5:
            x = x - 5
            if x > 3:
                return x * 100
        else:
            return -x
        return x

    assert [int(run(f, v)) for v in (12, 9, 7, 2)] == [2, 400, 2, -2]


def test_while_with_break_and_continue():
    def f(n):
        i, total = 0, 0
        while i < n:
            i += 1
            if tf.equal(i % 2, 0) or tf.equal(i, 3):
                continue
            if i > 8:
                break
            total += i
        return total, i

    assert [int(v) for v in run(f, 100)] == [1 + 5 + 7, 9]


def test_for_over_a_tensor_and_its_range():
    def f(x):
        total = tf.zeros([2])
        for row in x:
            total += row
        count = 0
        for i in tf.range(x.shape[0]):
            count += i
        return total, count

    total, count = run(f, np.arange(6, dtype=np.float32).reshape(3, 2))
    np.testing.assert_array_equal(total, [6, 9])
    assert count == 3


def test_for_over_a_python_list_with_a_break_that_a_tensor_decides():
    def f(x):
        total = 0
        for i in [1, 2, 3, 4]:
            if x < i:
                break
            total += i
        return total

    assert [int(run(f, v)) for v in (0, 2, 9)] == [0, 3, 10]


def test_for_over_a_dataset():
    def f(limit):
        total = tf.constant(0, tf.int64)
        for v in tf.data.Dataset.range(10):
            total += v
        some = tf.constant(0, tf.int64)
        for v in tf.data.Dataset.range(10):
            if v > limit:
                break
            some += v
        return total, some

    assert [int(v) for v in run(f, np.int64(3))] == [45, 6]


def test_shapes_may_change_in_a_loop_over_a_dataset():
    def f(limit):
        total = tf.constant(0, tf.int64)
        for v in tf.data.Dataset.zip((tf.data.Dataset.range(5), tf.data.Dataset.range(5))):
            if tf.reduce_sum(total) > limit:
                break
            total += v
        return total

    assert run(f, np.int64(2)).tolist() == [3, 3]


def test_loops_inside_of_loops_and_branches():
    def f(n):
        found = tf.constant(0)
        for i in tf.range(n):
            j = 0
            while j < i:
                if tf.equal(j % 2, 0) and i > 2:
                    inner = i * j
                    found += inner
                j += 1
        return found

    assert int(run(f, 5)) == sum(i * j for i in range(5) for j in range(i) if j % 2 == 0 and i > 2)


def test_python_values_decide_at_once():
    def f(x, flag):
        names = []
        for name in ("a", "b"):
            if flag and name == "b":
                continue
            names.append(name)
        while len(names) < 3:
            names.append("c")
        assert len(names) == 3
        return x * len(names) if not flag else x

    assert int(tf.function(f)(tf.constant(2), False)) == 6
    assert int(tf.function(f)(tf.constant(2), True)) == 2


def test_loop_else_runs_where_nothing_broke_out():
    def f(x):
        found = 0
        for i in tf.range(3):
            if tf.equal(i, x):
                found = 1
                break
        else:
            found = -1
        return found

    assert [int(run(f, v)) for v in (2, 7)] == [1, -1]


class Account:
    def __init__(self):
        self.__kept = tf.constant(0)
        self.sums = {"all": tf.constant(0)}

    def spend(self, x):
        return x

    @tf.function
    def add(self, x):
        if x > 0:
            self.sums["all"] = self.sums["all"] + x
        total = self.sums["all"]
        self.sums["all"] = tf.constant(0)
        return total + self.__kept


class Saver(Account):
    def spend(self, x):
        if x > 2:
            return super().spend(x) * 2
        return x


def test_methods_keep_attributes_private_names_and_super():
    account = Account()
    assert [int(account.add(tf.constant(v))) for v in (5, -5)] == [5, 0]
    assert [int(tf.function(Saver().spend)(tf.constant(v))) for v in (3, 1)] == [6, 1]


def test_closures_are_shared():
    scale = 2

    def double(x):
        return x * scale if x > 0 else x

    def f(x):
        nonlocal scale
        scale = 3
        return double(x)

    assert int(run(f, 4)) == 12
    assert scale == 3


def test_called_functions_are_converted_and_marked_ones_are_not():
    def sign(x):
        if x > 0:
            return 1
        return -1

    def f(x):
        return sign(x) + list(map(lambda v: v, [1]))[0]

    assert int(run(f, -4)) == 0
    with pytest.raises(TypeError, match="AutoGraph is disabled"):
        tf.function(tf.autograph.experimental.do_not_convert(sign))(tf.constant(1))
    with pytest.raises(TypeError, match="as a Python `bool` is not allowed"):
        tf.function(sign, autograph=False)(tf.constant(1))


def test_built_in_functions_and_expressions():
    def f(x):
        unknown = tf.boolean_mask(x, x > 0)
        return len(unknown), float(len(unknown)), abs(x[0]), 1 if x[0] > 0 and not x[1] > 0 else 2, range(len(unknown))

    count, as_float, size, choice, numbers = run(f, np.array([-3, 1, 1], np.int32))
    assert (count, as_float, size, choice, list(numbers)) == (2, 2.0, 3, 2, [0, 1])


def test_asserts_run_with_the_graph():
    def f(x):
        assert x > 0, "must be positive"
        return x

    assert int(run(f, 2)) == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be positive"):
        run(f, -2)


def test_gradients_through_converted_loops():
    @tf.function
    def f(x, n):
        y = x
        for _ in tf.range(n):
            if y < 100.0:
                y = y * x
        return y

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, tf.constant(2))
    assert float(y) == 27.0
    assert float(tape.gradient(y, x)) == 27.0


def undefined_in_a_branch(x):
    if x > 0:
        y = x
    return y


def undefined_before_a_loop(x):
    while x > 0:
        y = x
        x -= 1
    return y


def of_two_types(x):
    if x > 0:
        y = 1
    else:
        y = 2.0
    return y


def growing(x):
    y = tf.zeros([1])
    while x > 0:
        y = tf.concat([y, y], 0)
        x -= 1
    return y


def returning_in_a_loop(x):
    while x > 0:
        x -= 1
        if x < 2:
            return x
    return x


def returning_sometimes(x):
    if x > 0:
        return x


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (undefined_in_a_branch, ValueError, r"must also be initialized in the else branch: \('y',\)"),
        (undefined_before_a_loop, ValueError, r"must be defined before the loop: \('y',\)"),
        (of_two_types, TypeError, '"y" has dtype int32 in the TRUE branch, but dtype=float32 in the FALSE branch'),
        (growing, ValueError, r'"y" has shape \(1,\) before the loop, but shape \(2,\) after one iteration'),
        (returning_in_a_loop, ValueError, "return statements are not supported within a TensorFlow loop"),
        (returning_sometimes, ValueError, "A value must also be returned from the else branch"),
    ],
)
def test_what_a_graph_cannot_say_is_refused(function, error, text):
    with pytest.raises(error, match=text):
        run(function, 3)


def test_temporaries_of_a_body_need_no_value_before():
    def f(n):
        total = 0
        for i in tf.range(n):
            if i > 1:
                twice = i * 2
                total += twice
        return total

    assert int(run(f, 4)) == 10
