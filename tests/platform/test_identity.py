"""Collections by identity."""

import gc

import pytest

from everflow.platform import identity


class Unhashable:
    __hash__ = None

    def __eq__(self, other):
        raise AssertionError("compared")


def test_objects_are_keys_by_identity():
    a, b = Unhashable(), Unhashable()
    table = identity.ObjectIdentityDictionary()
    table[a], table[b] = 1, 2
    assert table[a] == 1 and len(table) == 2 and [k is v for k, v in zip(table, (a, b))] == [True, True]
    del table[a]
    assert a not in table and b in table


def test_sets():
    a, b, c = (Unhashable() for _ in range(3))
    items = identity.ObjectIdentitySet([a, b])
    items.add(a)
    assert len(items) == 2 and c not in items
    assert len(items.intersection([b, c])) == 1 and a in items.difference([b])


def test_weak_collections_forget_the_dead():
    a = Unhashable()
    table, items = identity.ObjectIdentityWeakKeyDictionary(), identity.ObjectIdentityWeakSet([a])
    table[a] = 1
    assert len(table) == len(items) == 1 and a in items
    del a
    gc.collect()
    assert len(table) == len(items) == 0 and list(items) == []


def test_a_wrapper_is_not_compared_with_what_it_wraps():
    with pytest.raises(TypeError, match="Cannot compare wrapped object with unwrapped object"):
        identity.Reference(3) == 3  # noqa: B015
    assert identity.Reference(3).deref() == 3
