"""Packs interface facts of TensorFlow 1.15 into the package: op definitions and the list of public names.

python tools/facts.py FACTS_FOLDER
"""

import json
import pathlib
import sys

OUT = pathlib.Path(__file__).resolve().parent.parent / "everflow" / "facts"


def main(folder: str) -> None:
    facts = pathlib.Path(folder)
    api = {**json.loads((facts / "api_core.json").read_text()), **json.loads((facts / "api_contrib.json").read_text())}
    names = {name.removeprefix("tf.") for name in api}
    (OUT / "names.json").write_text(json.dumps(sorted(names), indent=0) + "\n")
    ops = json.loads((facts / "op_defs.json").read_text())
    lines = [json.dumps(name) + ": " + json.dumps(ops[name], sort_keys=True) for name in sorted(ops)]
    (OUT / "op_defs.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
