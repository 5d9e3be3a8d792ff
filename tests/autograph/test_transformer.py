"""The class that libraries derive their own rewriting of code from."""

import gast
import pytest

from everflow import internals


@pytest.fixture
def transformer():
    return internals.module("python.autograph.pyct.transformer")


def test_it_knows_where_it_is(transformer):
    seen = []

    class Names(transformer.Base):
        def visit_Name(self, node):
            seen.append((node.id, [entity.name for entity in self.enclosing_entities]))
            return node

    Names(transformer.Context(None)).visit(gast.parse("class A:\n  def f(self):\n    return x\ny"))
    assert ("x", ["A", "f"]) in seen and ("y", []) in seen
    with pytest.raises(ValueError, match='expected "ast.AST"'):
        Names(None).visit("x")


def test_states_and_scopes(transformer):
    class Loops:
        depth = 0

    base = transformer.Base(None)
    base.state[Loops].depth = 1
    base.state[Loops].enter()
    assert (base.state[Loops].level, base.state[Loops].depth, [state.depth for state in base.state[Loops]]) == (2, 0, [1, 0])
    assert base.state[Loops].exit().depth == 0 and base.state[Loops].depth == 1
    base.enter_local_scope()
    base.set_local("a", 1)
    base.set_local("b", 2)
    base.enter_local_scope(inherit=("a",))
    base.set_local("c", 3)
    assert (base.local_scope_level, base.get_local("a"), base.get_local("b", "none")) == (2, 1, "none")
    assert base.exit_local_scope(keep=("c",)) == {"a": 1, "c": 3} and base.get_local("c") == 3


def test_blocks_and_assignments(transformer):
    class Nesting(transformer.Base):
        """Puts all that follows an `if` into it."""

        def visit_Module(self, node):
            node.body = self.visit_block(node.body, after_visit=lambda new: (new, new.body if isinstance(new, gast.If) else None))
            return node

    tree = Nesting(None).visit(gast.parse("if a:\n  b\nc\nd"))
    assert len(tree.body) == 1 and [node.value.id for node in tree.body[0].body] == ["b", "c", "d"]
    pairs = []
    assign = gast.parse("(a, b), c = f(), 2").body[0]
    transformer.Base(None).apply_to_single_assignments(assign.targets, assign.value, lambda *pair: pairs.append(pair))
    assert [target.id for target, _ in pairs] == ["a", "b", "c"]
    assert pairs[1][0].id == "b" and pairs[1][1].slice.value == 1 and pairs[2][1].value == 2
