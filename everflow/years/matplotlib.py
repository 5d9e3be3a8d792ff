"""What matplotlib dropped since 2."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from everflow.years.reporting import note
from everflow.years.shims import NOT_OURS, TABLE, methods, names, otherwise, patch, put


def _get_cmap(name: Any = None, lut: Any = None) -> Any:
    import matplotlib

    name = {"spectral": "nipy_spectral", "Vega10": "tab10", "Vega20": "tab20"}.get(name, name)
    found = matplotlib.colormaps.get_cmap(name)
    return found if lut is None else found.resampled(lut)


_CMAPS: dict[str, Any] = {old: functools.partial(_get_cmap, old) for old in ("spectral", "Vega10", "Vega20")}
names("matplotlib.cm", "matplotlib 2.2", _CMAPS)
names("matplotlib.cm", "matplotlib 3.9", get_cmap=lambda: _get_cmap)
names(
    "matplotlib.pyplot",
    "matplotlib 3.0",
    hold=lambda: lambda *_, **__: None,
    ishold=lambda: lambda: True,
    spectral=lambda: lambda: importlib.import_module("matplotlib.pyplot").set_cmap("nipy_spectral"),
)
names(
    "matplotlib.cbook",
    "matplotlib 3.3",
    iterable=lambda: importlib.import_module("numpy").iterable,
    is_numlike=lambda: lambda obj: isinstance(obj, importlib.import_module("numbers").Number),
    is_string_like=lambda: lambda obj: isinstance(obj, str),
)
names("matplotlib.mlab", "matplotlib 3.1", normpdf=lambda: _normpdf)
methods(
    "matplotlib.axes", "Axes", "matplotlib 3.0", hold=lambda axes, *_: None, set_axis_bgcolor=lambda axes, color: axes.set_facecolor(color)
)
methods(
    "matplotlib.backend_bases",
    "FigureCanvasBase",
    "matplotlib 3.6",
    set_window_title=lambda canvas, title: canvas.manager and canvas.manager.set_window_title(title),
)


def _normpdf(x: Any, mu: float, sigma: float) -> Any:
    import numpy as np

    return np.exp(-0.5 * ((np.asarray(x) - mu) / sigma) ** 2) / (np.sqrt(2 * np.pi) * sigma)


def _other_words(module: str, path: str, gone: str, **words: str) -> None:
    """A function whose arguments have other names now; the old ones are not noticed before something has been drawn."""
    title = f"{path} with {', '.join(f'{old}=' for old in words)}"
    TABLE[title] = gone

    @patch(module)
    def change(found: Any) -> None:
        *way, name = path.split(".")
        holder = functools.reduce(getattr, way, found)
        real = getattr(holder, name)

        @functools.wraps(real)
        def call(*args: Any, **kwargs: Any) -> Any:
            for old, new in words.items():
                if old in kwargs:
                    note(title)
                    kwargs[new] = kwargs.pop(old)
            return real(*args, **kwargs)

        put(holder, name, call)


_other_words("matplotlib.axes", "Axes.hist", "matplotlib 3.1", normed="density")
_other_words("matplotlib.pyplot", "hist", "matplotlib 3.1", normed="density")
_other_words("matplotlib.axes", "Axes.grid", "matplotlib 3.6", b="visible")
_other_words("matplotlib.pyplot", "grid", "matplotlib 3.6", b="visible")


@otherwise("matplotlib.figure", "Figure.gca", "matplotlib 3.6", "Figure.gca with projection=")
def _gca(error: Any, real: Any, self: Any, **others: Any) -> Any:
    return self.add_subplot(**others) if others else NOT_OURS


@otherwise("matplotlib.pyplot", "gca", "matplotlib 3.6", "plt.gca with projection=")
def _plt_gca(error: Any, real: Any, **others: Any) -> Any:
    return importlib.import_module("matplotlib.pyplot").gcf().add_subplot(**others) if others else NOT_OURS


@otherwise("matplotlib", "use", "matplotlib 3.3", "matplotlib.use with warn=")
def _use(error: Any, real: Any, *args: Any, warn: Any = None, **others: Any) -> Any:
    return NOT_OURS if warn is None else real(*args, **others)


@otherwise("matplotlib.style", "use", "matplotlib 3.8", 'the styles "seaborn-..."', OSError)
def _style(error: Any, real: Any, style: Any) -> Any:
    import matplotlib.style

    if isinstance(style, list):
        return [matplotlib.style.use(one) for one in style] and None
    if not isinstance(style, str) or not style.startswith("seaborn") or style.startswith("seaborn-v0_8"):
        return NOT_OURS
    return real("seaborn-v0_8" + style.removeprefix("seaborn"))
