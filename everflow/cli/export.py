"""`everflow export`: models as programs for other libraries."""

from __future__ import annotations

import argparse
import os
import sys


def main(arguments: list[str]) -> int:
    """Writes a model for another library."""
    parser = argparse.ArgumentParser(prog="everflow export", description="Writes a model as a program for another library.")
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="torch")
    torch = kinds.add_parser(
        "torch",
        help="a PyTorch module",
        description="Writes a signature of a SavedModel as a readable PyTorch module, OUT.py, which does "
        "not need Everflow, and its weights beside it as OUT.npz. `import OUT; model = OUT.load()` loads both; model(...) takes the "
        "signature's inputs in the order of their names and returns a dictionary of its outputs.",
    )
    torch.add_argument("saved_model", metavar="SAVED_MODEL", help="the folder of the SavedModel")
    torch.add_argument("out", metavar="OUT.py", help="the file to write")
    torch.add_argument("--tag_set", default="serve", help="the tags of the graph, comma separated (serve)")
    torch.add_argument("--signature_def", default="serving_default", help="the signature (serving_default)")
    chosen = parser.parse_args(arguments)
    if not chosen.out.endswith(".py"):
        parser.error(f"the file to write has to end in .py: {chosen.out}")
    from everflow.export.torch_module import export_saved_model
    from everflow.export.values import CannotExpress

    try:
        export_saved_model(chosen.saved_model, chosen.out, chosen.tag_set.split(","), chosen.signature_def)
    except (CannotExpress, OSError, RuntimeError) as error:
        print(f"everflow export: {error}", file=sys.stderr)
        return 1
    print(f"{chosen.out} and {os.path.splitext(chosen.out)[0]}.npz are written")
    return 0
