"""tf.contrib.training.HParams: settings with types, overridden by texts and dictionaries."""

import pytest

import everflow as tf
from everflow.contrib.training.hparams import HParams, parse_values


def settings():
    return HParams(count=1, rate=2.5, name="x", sizes=[1, 2], on=True)


def test_a_text_overrides_settings():
    found = settings().parse("count=-3,rate=1e-2,name=a=b,sizes=[4,5,6],on=false")
    assert found.values() == {"count": -3, "rate": 0.01, "name": "a=b", "sizes": [4, 5, 6], "on": False}
    assert (found.count, found.sizes) == (-3, [4, 5, 6])


@pytest.mark.parametrize(
    "text, message",
    [
        ("count=1.5", "Could not parse hparam 'count' of type 'int' with value '1.5' in count=1.5"),
        ("other=1", "Unknown hyperparameter type for other"),
        ("count=[1,2]", "Must not pass a list for single-valued parameter: count"),
        ("sizes=3", "Must pass a list for multi-valued parameter: sizes."),
        ("on=yes", "Could not parse hparam 'on' of type 'bool'"),
        ("count", "Malformed hyperparameter value: count"),
        ("count=1,count=2", "Multiple assignments to variable 'count'"),
    ],
)
def test_a_text_that_does_not_fit_is_refused(text, message):
    with pytest.raises(ValueError, match=message.replace("[", r"\[")):
        settings().parse(text)


def test_values_of_other_types_are_refused_where_something_would_be_lost():
    found = settings()
    found.set_hparam("rate", 3)
    assert found.rate == 3.0 and isinstance(found.rate, float)
    for name, value in [("count", 1.5), ("count", "5"), ("count", True), ("on", 1), ("name", 5)]:
        with pytest.raises(ValueError, match=f"Could not cast hparam '{name}'"):
            found.set_hparam(name, value)
    with pytest.raises(KeyError, match="other"):
        found.set_hparam("other", 1)


def test_names_are_given_once():
    for name in ("count", "parse"):
        with pytest.raises(ValueError, match=f"Hyperparameter name is reserved: {name}"):
            settings().add_hparam(name, 1)
    with pytest.raises(ValueError, match="cannot be empty: none"):
        settings().add_hparam("none", [])


def test_json_and_messages_bring_settings_back():
    found = settings()
    assert settings().parse_json('{"count": 7}').count == 7
    assert found.to_json() == '{"count": 1, "rate": 2.5, "name": "x", "sizes": [1, 2], "on": true}'
    again = HParams.from_proto(found.to_proto())
    assert again.values() == found.values()


def test_a_default_has_the_type_of_the_setting():
    assert (settings().get("count"), settings().get("other", 3), settings().get("other")) == (1, 3, None)
    with pytest.raises(ValueError, match="is incompatible with default=text"):
        settings().get("count", "text")
    assert "count" in settings() and "other" not in settings()


def test_single_items_of_lists_are_read_with_their_places():
    assert parse_values("a=1,b=[2.5,3],c[2]=x", {"a": int, "b": float, "c": str}) == {"a": 1, "b": [2.5, 3.0], "c": {2: "x"}}
    assert parse_values("a=1", {}, ignore_unknown=True) == {}
    assert tf.contrib.training.HParams is HParams


def test_there_may_be_spaces_around_signs():
    found = HParams(a=1, b=2.0, c="x", l=[1, 2]).parse("a = 3, b=4.5 ,\n l=[ 5, 6 ],  c=y z")
    assert found.values() == {"a": 3, "b": 4.5, "c": "y z", "l": [5, 6]}
    with pytest.raises(ValueError, match="Malformed hyperparameter value:  a=1"):
        found.parse(" a=1")


def test_what_has_the_right_type_is_not_made_anew():
    first, second = {"a": 1}, {"b": 2}
    found = HParams(table=first)
    found.set_hparam("table", second)
    assert found.table is second
