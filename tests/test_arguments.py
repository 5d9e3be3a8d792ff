"""Arguments that are handed on."""

from everflow.arguments import arguments


class _Given:
    def __init__(self, **given):
        self.given = given


class _HandsOn(_Given):
    def __init__(self, size, rate=0.5, **kwargs):
        super().__init__(rank=1, **arguments(locals()))


def test_arguments_keep_their_order_and_those_of_kwargs_come_last():
    assert list(_HandsOn(3, name="n").given.items()) == [("rank", 1), ("size", 3), ("rate", 0.5), ("name", "n")]


def test_a_function_without_kwargs_hands_on_what_it_names():
    def function(a, b=2):
        return arguments(locals())

    assert function(1) == {"a": 1, "b": 2}
