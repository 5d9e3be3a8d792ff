"""Options of a profile: the builder that programs use, and the form that views read."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable
from typing import Any

from everflow.api import public

# What is shown by each of the minimums, as a program may set them.
_MINIMUMS = (
    "min_bytes", "min_peak_bytes", "min_residual_bytes", "min_output_bytes", "min_micros", "min_accelerator_micros", "min_cpu_micros",
    "min_params", "min_float_ops", "min_occurrence",
)  # fmt: skip
_REGEXES = ("account_type_regexes", "start_name_regexes", "trim_name_regexes", "show_name_regexes", "hide_name_regexes")


def _canned(account: str, order_by: str, select: list[str], **minimums: int) -> dict[str, Any]:
    """Options for one purpose: everything below every name."""
    plain = {"min_bytes": 0, "min_micros": 0, "min_params": 0, "min_float_ops": 0, "min_occurrence": 0}
    given = {**plain, **minimums}
    return {
        "max_depth": 10000,
        **{key: given[key] for key in _MINIMUMS if key in given},
        "order_by": order_by,
        "account_type_regexes": [account],
        "start_name_regexes": [".*"],
        "trim_name_regexes": [],
        "show_name_regexes": [".*"],
        "hide_name_regexes": [],
        "account_displayed_op_only": True,
        "select": select,
        "step": -1,
        "output": "stdout",
    }


@public("profiler.ProfileOptionBuilder")
class ProfileOptionBuilder:
    """Builds the options of a profile: `ProfileOptionBuilder(ProfileOptionBuilder.time_and_memory()).with_max_depth(3).build()`."""

    def __init__(self, options: dict[str, Any] | None = None) -> None:
        if options is None:
            options = {**_canned(".*", "name", ["micros"]), "max_depth": 100, "account_displayed_op_only": False}
        self._options = copy.deepcopy(options)

    @staticmethod
    def trainable_variables_parameter() -> dict[str, Any]:
        """Options that count the parameters of trainable variables."""
        return _canned("_trainable_variables", "name", ["params"])

    @staticmethod
    def float_operation() -> dict[str, Any]:
        """Options that count floating point operations."""
        return _canned(".*", "float_ops", ["float_ops"], min_float_ops=1)

    @staticmethod
    def time_and_memory(
        min_micros: int = 1,
        min_bytes: int = 1,
        min_accelerator_micros: int = 0,
        min_cpu_micros: int = 0,
        min_peak_bytes: int = 0,
        min_residual_bytes: int = 0,
        min_output_bytes: int = 0,
    ) -> dict[str, Any]:
        """Options that show the time and memory that ops took."""
        return _canned(
            ".*",
            "micros",
            ["micros", "bytes"],
            min_bytes=min_bytes,
            min_peak_bytes=min_peak_bytes,
            min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes,
            min_micros=min_micros,
            min_accelerator_micros=min_accelerator_micros,
            min_cpu_micros=min_cpu_micros,
        )

    def build(self) -> dict[str, Any]:
        """The options, a dict of their own."""
        return copy.deepcopy(self._options)

    def _with(self, **options: Any) -> ProfileOptionBuilder:
        self._options.update(options)
        return self

    def with_max_depth(self, max_depth: int) -> ProfileOptionBuilder:
        """How deep the tree is shown."""
        return self._with(max_depth=max_depth)

    def with_min_memory(
        self, min_bytes: int = 0, min_peak_bytes: int = 0, min_residual_bytes: int = 0, min_output_bytes: int = 0
    ) -> ProfileOptionBuilder:
        """Shows only what takes at least so much memory."""
        return self._with(
            min_bytes=min_bytes, min_peak_bytes=min_peak_bytes, min_residual_bytes=min_residual_bytes, min_output_bytes=min_output_bytes
        )

    def with_min_execution_time(
        self, min_micros: int = 0, min_accelerator_micros: int = 0, min_cpu_micros: int = 0
    ) -> ProfileOptionBuilder:
        """Shows only what takes at least so many microseconds."""
        return self._with(min_micros=min_micros, min_accelerator_micros=min_accelerator_micros, min_cpu_micros=min_cpu_micros)

    def with_min_parameters(self, min_params: int) -> ProfileOptionBuilder:
        """Shows only what holds at least so many parameters."""
        return self._with(min_params=min_params)

    def with_min_occurrence(self, min_occurrence: int) -> ProfileOptionBuilder:
        """Shows only kinds of ops that occur at least so often."""
        return self._with(min_occurrence=min_occurrence)

    def with_min_float_operations(self, min_float_ops: int) -> ProfileOptionBuilder:
        """Shows only what does at least so many floating point operations."""
        return self._with(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes: list[str]) -> ProfileOptionBuilder:
        """Counts only ops one of whose types (op, device, type of the op log) matches a regular expression."""
        return self._with(account_type_regexes=list(account_type_regexes))

    def with_node_names(
        self,
        start_name_regexes: list[str] | None = None,
        show_name_regexes: list[str] | None = None,
        hide_name_regexes: list[str] | None = None,
        trim_name_regexes: list[str] | None = None,
    ) -> ProfileOptionBuilder:
        """Which names the tree starts at, shows, leaves out, and does not look below of."""
        given = {
            "start_name_regexes": start_name_regexes,
            "show_name_regexes": show_name_regexes,
            "hide_name_regexes": hide_name_regexes,
            "trim_name_regexes": trim_name_regexes,
        }
        return self._with(**{key: list(value) for key, value in given.items() if value is not None})

    def account_displayed_op_only(self, is_true: bool) -> ProfileOptionBuilder:
        """Whether sums are those of what is shown, not of all that lies below."""
        return self._with(account_displayed_op_only=is_true)

    def with_empty_output(self) -> ProfileOptionBuilder:
        """Writes nothing: what profile returns is all."""
        return self._with(output="none")

    def with_stdout_output(self) -> ProfileOptionBuilder:
        """Writes to standard output."""
        return self._with(output="stdout")

    def with_file_output(self, outfile: str) -> ProfileOptionBuilder:
        """Writes the report to a file."""
        return self._with(output=f"file:outfile={outfile}")

    def with_timeline_output(self, timeline_file: str) -> ProfileOptionBuilder:
        """Writes a timeline for chrome://tracing; needs a step."""
        return self._with(output=f"timeline:outfile={timeline_file}")

    def with_pprof_output(self, pprof_file: str) -> ProfileOptionBuilder:
        """Writes a file for pprof; the code view alone has it."""
        return self._with(output=f"pprof:outfile={pprof_file}")

    def order_by(self, attribute: str) -> ProfileOptionBuilder:
        """What the tree is sorted by: name, or what was selected."""
        return self._with(order_by=attribute)

    def select(self, attributes: Iterable[str]) -> ProfileOptionBuilder:
        """What is shown of each node."""
        return self._with(select=copy.copy(attributes))

    def with_step(self, step: int) -> ProfileOptionBuilder:
        """Which step is shown; -1 shows the mean of all."""
        return self._with(step=step)


@dataclasses.dataclass
class Options:
    """Options as views read them, all of them set."""

    max_depth: int
    minimums: dict[str, int]
    step: int
    order_by: str
    regexes: dict[str, list[str]]
    account_displayed_op_only: bool
    select: list[str]
    output: str
    outfile: str

    @classmethod
    def of(cls, options: dict[str, Any]) -> Options:
        """What a program's dict says; unknown keys are passed over."""
        kind, _, arguments = str(options.get("output", "stdout")).partition(":")
        given = dict(part.partition("=")[::2] for part in arguments.split(",") if "=" in part)
        if options.get("dump_to_file"):
            kind, given = "file", {"outfile": options["dump_to_file"]}
        return cls(
            max_depth=int(options.get("max_depth", 10)),
            minimums={key: int(options.get(key, 0)) for key in _MINIMUMS},
            step=int(options.get("step", -1)),
            order_by=str(options.get("order_by", "name")),
            regexes={key: [str(r) for r in options.get(key, ())] for key in _REGEXES},
            account_displayed_op_only=bool(options.get("account_displayed_op_only", False)),
            select=sorted({str(s) for s in options.get("select", ())}),
            output=kind,
            outfile=given.get("outfile", ""),
        )

    def lines(self) -> list[str]:
        """The options as a report begins with them."""
        shown: dict[str, Any] = {"max_depth": self.max_depth, **self.minimums, "step": self.step, "order_by": self.order_by}
        shown |= {key: ",".join(value) for key, value in self.regexes.items()}
        shown["account_displayed_op_only"] = str(self.account_displayed_op_only).lower()
        shown["select"] = ",".join(self.select)
        shown["output"] = self.output + ":" + (f"outfile={self.outfile}" if self.outfile else "")
        return [f"-{key:<27}{value}" for key, value in shown.items()]
