"""Single images that are resized: the ops that make a batch of one image and take it apart again go."""

from __future__ import annotations

from functools import partial

from everflow.graph import dtypes
from everflow.ops.core.node import Node, Value
from everflow.runtime.passes.patterns import P, Rules, V
from everflow.runtime.plan import fused


def _scaled(node: Node, picture: Node, number: Value, divides: bool) -> Node | None:
    by, attrs = float(number.constant), picture.attrs  # type: ignore[arg-type]
    if attrs["factor"] != 1 or divides and by != 1 and attrs["divisor"] != 1:
        return None
    changed = {"divisor": attrs["divisor"] * by} if divides else {"factor": by}
    return fused("_ResizedPicture", node, picture.inputs, **{**attrs, **changed})


PICTURE = V("picture", rank=3, where=lambda v: v.dtype is dtypes.uint8)
RESIZED = P("_ResizedPicture", name="picture", once=True)

resize_single_images = Rules(
    "resize_single_images",
    "ExpandDims of an image of bytes, its resizing, Squeeze, and what all pixels are divided or multiplied by.",
    (
        P(
            "Squeeze",
            P(
                "resizing",
                P("ExpandDims", PICTURE, V(where=lambda v: v.constant is not None and v.constant.item() == 0), once=True),
                name="resize",
                once=True,
            ),
            attrs={"squeeze_dims": [0]},
        ),
        lambda node, picture, resize: fused("_ResizedPicture", node, [picture, resize.inputs[1]], resize=resize, divisor=1.0, factor=1.0),
    ),
    (P("division", RESIZED, V("number", number=True)), partial(_scaled, divides=True)),
    (P("multiplication", RESIZED, V("number", number=True)), partial(_scaled, divides=False)),
)
