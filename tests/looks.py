"""What programs can see of a function or class by inspection. Runs on Python 3.7 too, for tools/looks.py."""

import inspect

KINDS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def parameters(function):
    """The parameters of a function, or of a class's __init__, as they are written: `x, axis=None, name=None`."""
    if inspect.isclass(function):
        function = function.__init__
        if not inspect.isfunction(function):
            return None
    return ", ".join(map(parameter, inspect.signature(function).parameters.values()))


def parameter(p):
    text = KINDS.get(p.kind, "") + p.name
    if p.annotation is not p.empty:
        text += ": " + str(p.annotation)
    return text if p.default is p.empty else text + "=" + value(p.default)


def value(default):
    if isinstance(default, float) and default.is_integer():
        return str(int(default))
    if default is None or isinstance(default, (bool, int, float, str, bytes)):
        return repr(default)
    if isinstance(default, (list, tuple)):
        return "[{}]".format(", ".join(map(value, default)))
    if type(default).__name__ == "DType":
        return default.name
    return "<object>"
