"""What programs can see of a function or class by inspection. Runs on Python 3.7 too, for tools/looks.py."""
import inspect

KINDS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
SPECIAL = ("__init__", "__call__", "__new__")


def look(thing):
    """{"parameters": ...}, and for a class its bases, properties and methods."""
    if not inspect.isclass(thing):
        return {"parameters": parameters(thing)}
    found = {"bases": [base.__name__ for base in thing.__mro__[1:]], "members": {}}
    for name in dir(thing):
        if name.startswith("_") and name not in SPECIAL:
            continue
        member = inspect.getattr_static(thing, name)
        if isinstance(member, (classmethod, staticmethod)):
            member = member.__func__
        if inspect.isfunction(member):
            found["members"][name] = parameters(member)
        elif isinstance(member, property):
            found["members"][name] = "property"
    return found


def parameters(function):
    """The parameters as they are written, such as `x, axis=None, name=None`."""
    return ", ".join(map(parameter, inspect.signature(function).parameters.values()))


def parameter(p):
    text = KINDS.get(p.kind, "") + p.name
    if p.annotation is not p.empty:
        text += ": " + str(p.annotation)
    return text if p.default is p.empty else text + "=" + value(p.default)


def value(default):
    if default is None or isinstance(default, (bool, int, float, str, bytes)):
        return repr(default)
    if isinstance(default, (list, tuple)):
        return "[{}]".format(", ".join(map(value, default)))
    if type(default).__name__ == "DType":
        return default.name
    return "<{}>".format(getattr(default, "__name__", type(default).__name__))
