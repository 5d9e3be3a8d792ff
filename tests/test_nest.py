"""How nested structures flatten, pack, compare and map."""

import collections

import attr
import pytest
import wrapt

from everflow import nest, nest_paths
from everflow.nest import is_sequence_or_composite

Point = collections.namedtuple("Point", ["x", "y"])


@attr.s
class Pair:
    left = attr.ib()
    right = attr.ib()


class Spec:
    """A type spec as composite tensors have them, reduced to what walking a structure needs."""

    value_type = property(lambda self: Composite)
    _component_specs = ("first", "second")

    def _to_components(self, value):
        return [value.first, value.second]

    def _from_components(self, components):
        return Composite(*components)

    def most_specific_compatible_type(self, other):
        return self


class Composite:
    def __init__(self, first, second):
        self.first, self.second = first, second

    _type_spec = property(lambda self: Spec())


@pytest.mark.parametrize(
    "structure, flat",
    [
        (3, [3]),
        (None, [None]),
        ("text", ["text"]),
        ([], []),
        ([1, (2, [3])], [1, 2, 3]),
        ({"b": 1, "a": [2, 3]}, [2, 3, 1]),
        (collections.OrderedDict([("b", 1), ("a", 2)]), [2, 1]),
        (Point([1], 2), [1, 2]),
        (Pair(1, [2, 3]), [1, 2, 3]),
        ({"a": 1}.values(), [1]),
        (range(3), [0, 1, 2]),
        ({1, 2}, [{1, 2}]),
    ],
)
def test_flatten_gives_the_leaves_in_order(structure, flat):
    assert nest.flatten(structure) == flat


def test_dicts_need_keys_that_sort():
    with pytest.raises(TypeError, match="sortable keys"):
        nest.flatten({"a": 1, 2: 3})


def test_packing_keeps_types_and_the_order_of_keys():
    structure = [Point(0, (0,)), collections.OrderedDict([("b", 0), ("a", 0)]), Pair(0, {})]
    packed = nest.pack_sequence_as(structure, [1, 2, 3, 4, 5])
    assert packed == [Point(1, (2,)), collections.OrderedDict([("b", 4), ("a", 3)]), Pair(5, {})]
    assert list(packed[1]) == ["b", "a"]
    assert nest.pack_sequence_as(collections.defaultdict(int, a=0), [1]).default_factory is int
    assert nest.pack_sequence_as("leaf", [7]) == 7


@pytest.mark.parametrize(
    "structure, flat, error, text",
    [
        ([1, 2], [1], ValueError, "Structure had 2 elements, but flat_sequence had 1 elements"),
        ([1], [1, 2], ValueError, "Structure had 1 elements, but flat_sequence had 2 elements"),
        (1, [1, 2], ValueError, "Structure is a scalar"),
        ([1], 2, TypeError, "flat_sequence must be a sequence"),
    ],
)
def test_packing_needs_as_many_elements_as_leaves(structure, flat, error, text):
    with pytest.raises(error, match=text):
        nest.pack_sequence_as(structure, flat)


def test_proxies_open_as_what_they_wrap():
    wrapped = wrapt.ObjectProxy({"b": 1, "a": wrapt.ObjectProxy([2, 3])})
    assert nest.flatten(wrapped) == [2, 3, 1]
    packed = nest.pack_sequence_as(wrapped, [4, 5, 6])
    assert isinstance(packed, wrapt.ObjectProxy) and packed == {"b": 6, "a": [4, 5]}
    assert not nest.is_nested(wrapt.ObjectProxy(3))


def test_composites_open_only_when_asked():
    value = Composite(1, 2)
    assert nest.flatten([value]) == [value]
    assert nest.flatten([value, 3], expand_composites=True) == [1, 2, 3]
    assert nest.flatten(Spec(), expand_composites=True) == ["first", "second"]
    tripled = nest.map_structure(lambda x: 3 * x, [value], expand_composites=True)
    assert (tripled[0].first, tripled[0].second) == (3, 6)
    assert is_sequence_or_composite(value) and not nest.is_nested(value)


@pytest.mark.parametrize(
    "a, b",
    [
        (1, "leaf"),
        ([1, [2]], [3, [4]]),
        ({"a": 1}, collections.OrderedDict(a=2)),
        (Point(1, 2), collections.namedtuple("Point", ["x", "y"])(1, 2)),
        ([1], type("MyList", (list,), {})([2])),
    ],
)
def test_same_structures_pass(a, b):
    nest.assert_same_structure(a, b)


@pytest.mark.parametrize(
    "a, b, error, text",
    [
        ([1, 2], [1, [2]], ValueError, r'Substructure "type=list str=\[2\]" is a sequence, while substructure "type=int'),
        ([1], [1, 2], ValueError, "don't have the same number of elements"),
        ([1], (1,), TypeError, "has type list, while second structure .* has type tuple"),
        (Point(1, 2), (1, 2), TypeError, "has type Point"),
        ({"a": 1}, {"b": 1}, ValueError, r"First structure has keys type=list str=\['a'\]"),
    ],
)
def test_different_structures_raise(a, b, error, text):
    with pytest.raises(error, match=text):
        nest.assert_same_structure(a, b)


def test_types_are_compared_only_when_asked():
    nest.assert_same_structure([1, (2,)], (1, [2]), check_types=False)


def test_map_structure_nests_results_like_the_first():
    assert nest.map_structure(lambda a, b: a + b, {"x": [1, 2]}, {"x": [3, 4]}) == {"x": [4, 6]}
    assert nest.map_structure(lambda a: -a, 5) == -5
    with pytest.raises(ValueError, match="not: `other`"):
        nest.map_structure(abs, [1], other=1)
    with pytest.raises(TypeError, match="func must be callable"):
        nest.map_structure("no", [1])
    with pytest.raises(ValueError, match="at least one structure"):
        nest.map_structure(abs)


def test_paths_name_keys_fields_and_positions():
    structure = {"a": [1, Point(2, 3)], "b": Pair(4, Composite(5, 6))}
    assert nest_paths.flatten_with_joined_string_paths(structure, expand_composites=True) == [
        ("a/0", 1),
        ("a/1/x", 2),
        ("a/1/y", 3),
        ("b/left", 4),
        ("b/right/Composite/0", 5),
        ("b/right/Composite/1", 6),
    ]
    assert list(nest_paths.yield_flat_paths([1, {"k": 2}])) == [(0,), (1, "k")]
    paired = nest_paths.map_structure_with_paths(lambda p, a, b: (p, a, b), {"a": [1]}, {"a": [2]})
    assert paired == {"a": [("a/0", 1, 2)]}
    assert nest_paths.map_structure_with_tuple_paths(lambda p, a: (p, a), 1) == ((), 1)


def test_flattening_up_to_a_shallower_structure():
    assert nest_paths.flatten_up_to([0, 0], [[1], {"a": 2}]) == [[1], {"a": 2}]
    assert nest_paths.flatten_up_to({"b": 0}, {"a": 1, "b": 2}, check_subtrees_length=False) == [2]
    assert nest_paths.map_structure_up_to([0, 0], lambda *parts: parts, [[1], 2], [3, 4]) == [([1], 3), (2, 4)]
    assert nest_paths.flatten_with_tuple_paths_up_to({"a": 0}, {"a": [1]}) == [(("a",), [1])]


@pytest.mark.parametrize(
    "shallow, deep, error, text",
    [
        ([[1]], [1], TypeError, "input must also be a sequence. Input has type: <class 'int'>"),
        ([1], (1,), TypeError, "don't have the same sequence type"),
        ([1], [1, 2], ValueError, "Input structure has length 2, while shallow structure has length 1"),
        ({"a": 1}, {"b": 1}, ValueError, r"not in the input_tree: \['a'\]"),
    ],
)
def test_a_shallow_structure_has_to_fit(shallow, deep, error, text):
    with pytest.raises(error, match=text):
        nest_paths.assert_shallow_structure(shallow, deep)


def test_flatten_dict_items_opens_keys():
    assert nest_paths.flatten_dict_items({("a", "b"): (1, [2]), "c": [3]}) == {"a": 1, "b": 2, "c": [3]}
    with pytest.raises(ValueError, match="key a is not unique"):
        nest_paths.flatten_dict_items({("a", "b"): (1, 2), "a": 3})
    with pytest.raises(ValueError, match="Key had 2 elements, but value had 1"):
        nest_paths.flatten_dict_items({("a", "b"): 1})


def test_traversal_is_as_deep_as_the_function_says():
    structure = [1, [2], (3, [4])]
    not_into_tuples = nest_paths.get_traverse_shallow_structure(lambda s: not isinstance(s, tuple), structure)
    assert not_into_tuples == [True, [True], False]
    assert nest_paths.get_traverse_shallow_structure(lambda s: [False, True, False] if s is structure else True, structure) == [
        False,
        [True],
        False,
    ]
    with pytest.raises(TypeError, match="non-bool scalar"):
        nest_paths.get_traverse_shallow_structure(lambda s: 3, structure)
