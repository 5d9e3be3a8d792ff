"""The four ways to look at a model's ops: by name scope, along the graph, by kind of op, by line of Python."""

from __future__ import annotations

import collections
import dataclasses
import os
import re
from collections.abc import Callable, Iterable, Iterator

from everflow.profiler.model import Frame, Model, OpNode, Stats
from everflow.profiler.options import Options

ROOT = "_TFProfRoot"
# What the entries are that stand for no op of their own.
SCOPE_PARENT, GRAPH_PARENT = "_kTFScopeParent", "_TFGraphParent"
LONGEST_FUNCTION = 20
GRADIENT = re.compile(r"(?:^|/)gradients(?:_\d+)?/(.+?)_grad/")
# What each order sorts by, and each minimum asks for.
COUNTED = {
    "bytes": "requested_bytes",
    "peak_bytes": "peak_bytes",
    "residual_bytes": "residual_bytes",
    "output_bytes": "output_bytes",
    "micros": "exec_micros",
    "accelerator_micros": "accelerator_exec_micros",
    "cpu_micros": "cpu_exec_micros",
    "params": "parameters",
    "float_ops": "float_ops",
    "occurrence": "run_count",
}


@dataclasses.dataclass(eq=False)
class Entry:
    """A line of a view: ops of its own, or none, and what is below."""

    name: str
    types: set[str] = dataclasses.field(default_factory=set)
    ops: list[OpNode] = dataclasses.field(default_factory=list)
    children: list[Entry] = dataclasses.field(default_factory=list)
    own: Stats = dataclasses.field(default_factory=collections.Counter)
    total: Stats = dataclasses.field(default_factory=collections.Counter)
    accounted: bool = True
    frame: Frame | None = None

    def sum_up(self) -> None:
        """Makes the total that of this entry and the totals below it. What is not accounted is defined all the same."""
        self.total = collections.Counter(self.own if self.accounted else {"definition_count": self.own["definition_count"]})
        for child in self.children:
            self.total.update(child.total)

    def walk(self) -> Iterator[Entry]:
        """This entry and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


def matches(name: str, regexes: Iterable[str]) -> bool:
    """Whether a regular expression fits a whole name."""
    return any(r == ".*" or re.fullmatch(r, name) for r in regexes)


class View:
    """A way to arrange a model's ops; `shown` is the tree that a report prints."""

    parent_type = ""

    def __init__(self, model: Model, options: Options) -> None:
        self.model, self.options = model, options

    def tree(self) -> Entry:
        """All ops below one root."""
        raise NotImplementedError

    def shown(self) -> Entry:
        """The tree with what the options ask for."""
        root = self.tree()
        root.children = self._accounted(root.children)
        root.accounted = False
        root.sum_up()
        if self.options.regexes["start_name_regexes"] != [".*"]:
            root.children = list(self._starting_at(root.children))
        self._show([root], 1)
        return root

    def _entry(self, name: str, node: OpNode | None) -> Entry:
        """An entry for an op or for what holds ops."""
        if node is None:
            return Entry(name, {self.parent_type}, own=collections.Counter(definition_count=1))
        return Entry(name, node.types, [node], own=node.stats(self.options.step))

    def _accounted(self, entries: list[Entry]) -> list[Entry]:
        """The entries that count, or hold some that do."""
        kept = []
        for entry in entries:
            entry.children = self._accounted(entry.children)
            entry.accounted = self._counts(entry)
            entry.sum_up()
            if entry.accounted or entry.children and self.keeps_parents:
                kept.append(entry)
            else:
                kept.extend(entry.children)
        return kept

    # Whether an entry that does not count is shown for those below it.
    keeps_parents = True
    # Whether totals can be those of what is shown.
    sums_what_is_shown = True

    def _counts(self, entry: Entry) -> bool:
        regexes = self.options.regexes["account_type_regexes"]
        return regexes == [".*"] or any(matches(type, regexes) for type in entry.types)

    def _starting_at(self, entries: list[Entry]) -> Iterator[Entry]:
        for entry in entries:
            if matches(entry.name, self.options.regexes["start_name_regexes"]):
                yield entry
            else:
                yield from self._starting_at(entry.children)

    def _show(self, entries: list[Entry], depth: int) -> list[Entry]:
        """The entries to print; those below one that is not stand in its place."""
        found = []
        for entry in entries:
            is_shown = self._is_shown(entry, depth)
            below = [] if matches(entry.name, self.options.regexes["trim_name_regexes"]) else self._show(entry.children, depth + 1)
            if is_shown:
                entry.children = self.ordered(below)
                if self.options.account_displayed_op_only and self.sums_what_is_shown:
                    entry.sum_up()
                found.append(entry)
            else:
                found += below
        return found

    def _is_shown(self, entry: Entry, depth: int) -> bool:
        if entry.name == ROOT:
            return True
        regexes = self.options.regexes
        if depth > self.options.max_depth or matches(entry.name, regexes["hide_name_regexes"]):
            return False
        return self._reaches_minimums(entry) and matches(entry.name, regexes["show_name_regexes"])

    def _reaches_minimums(self, entry: Entry) -> bool:
        for key, least in self.options.minimums.items():
            counted = COUNTED[key.removeprefix("min_")]
            # Parameters and operations are an op's own; time and memory are also that of what is below.
            stats = entry.own if counted in ("parameters", "float_ops") else entry.total
            if key != "min_occurrence" and stats[counted] < least:
                return False
        return True

    def ordered(self, entries: list[Entry]) -> list[Entry]:
        """The entries in the order that was asked for; by name where it is none that is known."""
        counted = COUNTED.get(self.options.order_by)
        return sorted(entries, key=(lambda e: -e.total[counted]) if counted else (lambda e: e.name))


class ScopeView(View):
    """Names as a tree, split at slashes."""

    parent_type = SCOPE_PARENT

    def tree(self) -> Entry:
        root = self._entry(ROOT, None)
        known: dict[str, Entry] = {"": root}

        def place(name: str) -> Entry:
            if name not in known:
                known[name] = self._entry(name, self.model.nodes.get(name))
                place(name.rpartition("/")[0]).children.append(known[name])
            return known[name]

        for name in sorted(self.model.nodes):
            place(name)
        return root


class GraphView(View):
    """Ops with what they take from below them; each op stands where it is met first."""

    parent_type = GRAPH_PARENT
    keeps_parents = False

    def tree(self) -> Entry:
        nodes = self.model.nodes
        used = {source for node in nodes.values() for source in node.inputs.values()}
        entries = {name: self._entry(name, node) for name, node in nodes.items()}
        root = self._entry(ROOT, None)
        seen: set[str] = set()
        # Loops have no op that nothing uses, so all ops follow those.
        for name in [*sorted(set(nodes) - used), *sorted(used & set(nodes))]:
            if name in seen:
                continue
            seen.add(name)
            root.children.append(entries[name])
            pending = [(name, iter(self._sources(name)))]
            while pending:
                current, sources = pending[-1]
                source = next((s for s in sources if s not in seen), None)
                if source is None:
                    pending.pop()
                    continue
                seen.add(source)
                entries[current].children.append(entries[source])
                pending.append((source, iter(self._sources(source))))
        return root

    def _sources(self, name: str) -> list[str]:
        return [source for _, source in sorted(self.model.nodes[name].inputs.items()) if source in self.model.nodes]


class CodeView(View):
    """Lines of Python, as they called each other when the ops were made."""

    sums_what_is_shown = False

    def tree(self) -> Entry:
        root = Entry(ROOT)
        for node in self.model.nodes.values():
            forward = GRADIENT.search(node.name)
            origin = self.model.nodes.get(forward[1]) if forward else None
            frames, mark = (origin.frames, " (gradient)") if origin is not None and origin.frames else (node.frames, "")
            entry = root
            for frame in frames:
                name = line_of(frame) + mark
                below = next((child for child in entry.children if child.name == name and child.frame == frame), None)
                if below is None:
                    below = Entry(name, frame=frame)
                    entry.children.append(below)
                entry = below
            if entry is not root:
                entry.ops.append(node)
                entry.types |= node.types
        for entry in root.walk():
            for op in entry.ops:
                if self.options.regexes["account_type_regexes"] == [".*"] or any(
                    matches(t, self.options.regexes["account_type_regexes"]) for t in op.types
                ):
                    entry.own.update(op.stats(self.options.step))
        return root


def line_of(frame: Frame) -> str:
    """How the code view calls a line."""
    function = frame.function
    if len(function) > LONGEST_FUNCTION:
        function = function[: LONGEST_FUNCTION - 3] + "..."
    return f"{os.path.basename(frame.file)}:{frame.line}:{function}"


class OpView(View):
    """Kinds of ops, one below the other: the total of each is its own and that of all that follow."""

    def tree(self) -> Entry:
        kinds: dict[str, Entry] = {}
        for _, node in sorted(self.model.nodes.items()):
            kind = kinds.setdefault(node.op, Entry(node.op))
            kind.ops.append(node)
            kind.types |= node.types
            kind.own.update(node.stats(self.options.step))
        return Entry(ROOT, children=list(kinds.values()))

    def shown(self) -> Entry:
        """The kinds as a chain."""
        root = self.tree()
        kinds = [kind for kind in self.ordered(root.children) if self._counts(kind)]
        self._chain(root, kinds)
        if self.options.regexes["start_name_regexes"] != [".*"]:
            kinds = [kind for kind in kinds if matches(kind.name, self.options.regexes["start_name_regexes"])]
        kinds = [
            kind
            for depth, kind in enumerate(kinds, 2)
            if len(kind.ops) >= self.options.minimums["min_occurrence"] and self._is_shown(kind, depth)
        ]
        if self.options.account_displayed_op_only:
            self._chain(root, kinds)
        for above, kind in zip([root, *kinds], kinds):
            above.children = [kind]
        if kinds:
            kinds[-1].children = []
        else:
            root.children = []
        return root

    @staticmethod
    def _chain(root: Entry, kinds: list[Entry]) -> None:
        total: Stats = collections.Counter()
        for kind in reversed(kinds):
            total.update(kind.own)
            kind.total = collections.Counter(total)
        root.total = collections.Counter(total)

    def ordered(self, entries: list[Entry]) -> list[Entry]:
        """The kinds sorted by their own counts."""
        by_name = sorted(entries, key=lambda e: e.name)
        if self.options.order_by == "occurrence":
            return sorted(by_name, key=lambda e: -len(e.ops))
        counted = COUNTED.get(self.options.order_by)
        return sorted(by_name, key=lambda e: -e.own[counted]) if counted else by_name


VIEWS: dict[str, Callable[[Model, Options], View]] = {"scope": ScopeView, "graph": GraphView, "op": OpView, "code": CodeView}
