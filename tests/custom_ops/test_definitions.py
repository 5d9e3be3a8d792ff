"""What the words of REGISTER_OP mean."""

import pytest

from everflow.custom_ops.definitions import Words, op_def
from everflow.custom_ops.library import snake_case


def defined(*attrs, inputs=(), outputs=()):
    return op_def(Words("Some", "", list(attrs), list(inputs), list(outputs), {"is_stateful", "has_shape_function"}))


@pytest.mark.parametrize(
    ("spec", "kind", "default"),
    [
        ("n: int = -3", "int", -3),
        ("f:float=1.5", "float", 1.5),
        ("b: bool = true", "bool", True),
        ('s: string = "a, b = c"', "string", "a, b = c"),
        ("t: type = DT_INT64", "type", "int64"),
        ("t: {float, DT_HALF} = DT_HALF", "type", "float16"),
        ("t: {float32, float64} = DT_DOUBLE", "type", "float64"),
        ("h: shape = { dim { size: 2 } dim { size: -1 } }", "shape", (2, None)),
        ("h: shape = { unknown_rank: true }", "shape", None),
        ("l: list(int) >= 0 = [1, 2]", "list(int)", [1, 2]),
        ("l: list(string) = ['a', 'b']", "list(string)", ["a", "b"]),
        ("l: list({int32, string}) = [DT_STRING]", "list(type)", ["string"]),
        ("l: list(float) = []", "list(float)", []),
    ],
)
def test_attributes_have_kinds_and_defaults(spec, kind, default):
    (attr,) = defined(spec).attrs.values()
    shown = [getattr(v, "name", v) for v in attr.default] if isinstance(attr.default, list) else getattr(attr.default, "name", attr.default)
    assert (attr.type, attr.has_default, shown) == (kind, True, default)


def test_tensors_as_defaults():
    assert defined("t: tensor = { dtype: DT_INT32 int_val: 5 }").attrs["t"].default.tolist() == 5
    with pytest.raises(ValueError, match="Could not parse default value"):
        defined("t: tensor = { dtype: nothing }")


def test_limits_of_attributes():
    attrs = defined("n: int >= 2", "T: {float, int32}", "R: realnumbertype", "how: {'a', \"b\"}", "L: list({float, string}) >= 1").attrs
    assert attrs["n"].minimum == 2
    assert [t.name for t in attrs["T"].allowed] == ["float32", "int32"]
    assert "complex64" not in [t.name for t in attrs["R"].allowed]
    assert attrs["how"].allowed == ("a", "b")
    assert (attrs["L"].minimum, [t.name for t in attrs["L"].allowed]) == (1, ["float32", "string"])


def test_arguments_are_single_tensors_or_lists():
    found = defined(
        "T: type", "N: int", "L: list(type)", inputs=["a: T", "b: N * T", "c: L", "d: N * int32", "e: Ref(float)"], outputs=["y: string"]
    )
    a, b, c, d, e = found.inputs
    assert (a.type_attr, a.is_list) == ("T", False)
    assert (b.number_attr, b.type_attr, b.is_list) == ("N", "T", True)
    assert (c.type_list_attr, c.is_list) == ("L", True)
    assert (d.number_attr, d.type.name) == ("N", "int32")
    assert (e.is_ref, e.type.name) == (True, "float32")
    assert [a.type.name for a in defined(inputs=["a: float32", "b: float16"]).inputs] == ["float32", "float16"]
    assert found.outputs[0].type.name == "string"
    assert found.is_stateful
    assert found.attrs["N"].minimum == found.attrs["L"].minimum == 1


@pytest.mark.parametrize(
    ("name", "function"), [("ZeroOut", "zero_out"), ("ROIPool", "roi_pool"), ("NMSv2", "nm_sv2"), ("Conv2DGrad", "conv2d_grad")]
)
def test_names_of_functions(name, function):
    assert snake_case(name) == function
