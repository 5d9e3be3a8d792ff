"""Looking at functions through their decorators."""

import functools

import pytest

from everflow.platform import callables, contexts, decorators, keyword_args, signatures


def doubled(function):
    return decorators.make_decorator(function, lambda *args: 2 * function(*args), "doubled", "Twice.")


@doubled
def plus(a, b=1):
    """Adds."""
    return a + b


class Adder:
    def __call__(self, x, y):
        return x + y

    def method(self, a, *rest, **options):
        return a


def test_decorators_can_be_taken_off():
    assert plus(1, 2) == 6 and plus.__name__ == "plus" and plus.__doc__ == "Twice."
    (decorator,), target = decorators.unwrap(plus)
    assert decorator.decorator_name == "doubled" and target(1) == 2
    assert signatures.getargspec(plus) == signatures.ArgSpec(["a", "b"], None, None, (1,))


def test_rewrap_puts_another_function_below():
    @doubled
    @doubled
    def f(a):
        return a

    decorators.rewrap(f, decorators.unwrap(f)[1], len)
    assert decorators.unwrap(f)[1] is len


def test_a_declared_signature_wins():
    spec = signatures.ArgSpec(["q"], None, None, None)
    f = decorators.make_decorator(plus, lambda q: q, decorator_argspec=spec)
    assert signatures.getargspec(f) == spec and signatures.getfullargspec(f).args == ["q"]


@pytest.mark.parametrize(
    "function, names",
    [
        (plus, ("a", "b")),
        (Adder(), ("x", "y")),
        (Adder().method, ("a",)),
        (functools.partial(lambda a, b, c: 0, 1), ("b", "c")),
        (functools.partial(lambda a, b, c: 0, b=1), ("a", "c")),
    ],
)
def test_arguments_that_a_call_still_needs(function, names):
    assert callables.fn_args(function) == names


def test_keyword_arguments_and_names():
    assert callables.has_kwargs(Adder().method) and not callables.has_kwargs(Adder())
    assert callables.get_func_name(Adder().method) == "Adder.method"
    assert callables.get_func_code(Adder()) is Adder.__call__.__code__
    with pytest.raises(TypeError, match="should be a function-like object"):
        callables.has_kwargs(3)


def test_partials_become_defaults():
    assert signatures.getargspec(functools.partial(lambda a, b, c=4: 0, c=1)).defaults == (1,)
    with pytest.raises(ValueError, match=r"Some arguments \['c'\] do not have default value"):
        signatures.getargspec(functools.partial(lambda a, b, c: 0, b=1))


def test_call_arguments():
    assert signatures.getcallargs(lambda a, b=2: 0, 1) == {"a": 1, "b": 2}
    adder = Adder()
    assert signatures.getcallargs(adder.method, 1, k=3) == {"self": adder, "a": 1, "k": 3}


def test_context_managers_keep_their_signature():
    @contexts.contextmanager
    def opened(name, mode="r"):
        yield name + mode

    with opened("f") as value:
        assert value == "fr"
    assert signatures.getargspec(opened).args == ["name", "mode"]


def test_keyword_only_functions():
    @keyword_args.keyword_args_only
    def f(a):
        return a

    assert f(a=1) == 1
    with pytest.raises(ValueError, match="Must use keyword args to call f"):
        f(1)
