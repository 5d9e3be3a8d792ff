"""Warnings about what will go away."""

import pytest

from everflow.platform import deprecation, signatures


@pytest.fixture
def warnings(monkeypatch):
    shown = []
    monkeypatch.setattr(deprecation.logging, "warning", lambda text, *args: shown.append(text % args))
    return shown


def test_a_deprecated_function_warns_once_and_says_so_in_its_docstring(warnings):
    @deprecation.deprecated("2030-01-01", "Use new.")
    def old(a, b=1):
        """Does things.

        Args: a, b
        """
        return a + b

    assert old(1) == 2 and old(2, b=3) == 5
    (text,) = warnings
    assert "test_deprecation.py:" in text and "old (from " in text
    assert text.endswith("is deprecated and will be removed after 2030-01-01.\nInstructions for updating:\nUse new.")
    assert old.__doc__.startswith(
        "Does things. (deprecated)\n\nWarning: THIS FUNCTION IS DEPRECATED. It will be removed after 2030-01-01.\n"
        "Instructions for updating:\nUse new.\n\nArgs: a, b"
    )
    assert signatures.getfullargspec(old).args == ["a", "b"]


def test_deprecated_arguments_warn_when_given(warnings):
    @deprecation.deprecated_args(None, "Leave it.", "b", ("c", None))
    def f(a, b=1, c=None):
        return a

    f(1)
    f(1, c=None)
    assert warnings == []
    f(1, 2)
    f(1, c=4)
    f(1, b=5)
    assert ["with b" in warnings[0], "with c" in warnings[1], len(warnings)] == [True, True, 2]
    with pytest.raises(ValueError, match=r"not present in the function signature: \['z'\]"):
        deprecation.deprecated_args(None, "x", "z")(lambda a: a)


def test_deprecated_values_warn_when_given(warnings):
    @deprecation.deprecated_arg_values(None, "Use 1.", a=0)
    def f(a):
        return a

    f(1)
    assert warnings == []
    f(0)
    f(a=0)
    assert len(warnings) == 1 and "with a=0 is deprecated" in warnings[0]


def test_aliases_of_functions_and_classes(warnings):
    class New:
        def __init__(self, x):
            self.x = x

    old = deprecation.deprecated_alias("Old", "New", New)
    assert old(3).x == 3 and isinstance(old(4), New)
    function = deprecation.deprecated_alias("old", "new", lambda: 5)
    assert function() == 5 == function()
    assert ["The name Old is deprecated. Please use New instead." in warnings[0], len(warnings)] == [True, 2]


def test_silence(warnings):
    @deprecation.deprecated(None, "x")
    def f():
        return 1

    with deprecation.silence():
        f()
    assert warnings == []


def test_one_value_under_two_names():
    assert deprecation.deprecated_argument_lookup("new", None, "old", 1) == 1
    assert deprecation.deprecated_argument_lookup("new", 2, "old", None) == 2
    with pytest.raises(ValueError, match="Cannot specify both 'old' and 'new'"):
        deprecation.deprecated_argument_lookup("new", 2, "old", 1)


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: deprecation.deprecated("soon", "x"), "Date must be YYYY-MM-DD"),
        (lambda: deprecation.deprecated(None, ""), "without conversion instructions"),
        (lambda: deprecation.deprecated_args(None, "x"), "Specify which argument is deprecated"),
        (lambda: deprecation.deprecated_arg_values(None, "x"), "Specify which argument values"),
    ],
)
def test_a_deprecation_needs_a_date_and_instructions(make, text):
    with pytest.raises(ValueError, match=text):
        make()
