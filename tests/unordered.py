"""Iterations over sets in Python source, by what a module's own annotations and literals say."""

import ast
from collections.abc import Iterator

_SETS = {"set", "frozenset", "Set", "AbstractSet", "MutableSet", "WeakSet", "KeysView"}
_ORDERED_BY_NOBODY = {"list", "tuple", "iter", "enumerate", "zip", "map", "filter", "next", "join", "extend", "chain"}
_GATHERING = {"sorted", "set", "frozenset", "any", "all", "len", "min", "max", "sum"}


def unordered_iterations(module: ast.Module) -> list[int]:
    """Return the lines where something that may be a set is iterated over, other than into what has no order either."""
    kinds = _Kinds(module)
    parents = {child: parent for parent in ast.walk(module) for child in ast.iter_child_nodes(parent)}
    return sorted({each.lineno for each, iterated in _iterated(module, parents) if kinds.is_set(iterated)})


def _iterated(module: ast.Module, parents: dict[ast.AST, ast.AST]) -> Iterator[tuple[ast.expr, ast.expr]]:
    for node in ast.walk(module):
        if isinstance(node, ast.For | ast.AsyncFor):
            yield node.iter, node.iter
        elif isinstance(node, ast.ListComp | ast.GeneratorExp | ast.DictComp):
            parent = parents.get(node)
            gathered = isinstance(parent, ast.Call) and _name(parent.func) in _GATHERING
            if not gathered or isinstance(node, ast.DictComp):
                yield from ((each.iter, each.iter) for each in node.generators)
        elif isinstance(node, ast.Starred):
            if not isinstance(parents.get(node), ast.Set):
                yield node, node.value
        elif isinstance(node, ast.Call) and _name(node.func) in _ORDERED_BY_NOBODY:
            parent = parents.get(node)
            if not (isinstance(parent, ast.Call) and _name(parent.func) in _GATHERING):
                yield from ((node, each) for each in node.args)


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


class _Kinds:
    """Which names and attributes of a module are sets, one kind for each name in all of it."""

    def __init__(self, module: ast.Module) -> None:
        self._sets: set[str] = set()
        self._holders: set[str] = set()
        """Mappings and sequences of sets."""
        for node in ast.walk(module):
            if isinstance(node, ast.AnnAssign | ast.arg) and node.annotation is not None:
                self._note(node.arg if isinstance(node, ast.arg) else _name(node.target), node.annotation)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
                self._note(node.name, node.returns)
        for node in ast.walk(module):
            if isinstance(node, ast.Assign):
                self._assign(node)

    def _note(self, name: str, annotation: ast.expr) -> None:
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            annotation = ast.parse(annotation.value, mode="eval").body
        outer = annotation.value if isinstance(annotation, ast.Subscript) else annotation
        if _name(outer) in _SETS:
            self._sets.add(name)
        elif any(_name(each) in _SETS for each in ast.walk(annotation) if isinstance(each, ast.expr)):
            self._holders.add(name)

    def _assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=False))
            else:
                pairs = [(target, node.value)]
            self._sets |= {_name(each) for each, value in pairs if self.is_set(value)} - {""}

    def is_set(self, node: ast.expr) -> bool:
        match node:
            case ast.Set() | ast.SetComp():
                return True
            case ast.Call(func=ast.Name(id="set" | "frozenset")):
                return True
            case ast.Call(func=ast.Attribute(attr="union" | "difference" | "intersection")):
                return True
            case ast.Call(func=ast.Attribute(value=held, attr="get" | "pop" | "setdefault")):
                return _name(held) in self._holders
            case ast.Call():
                return _name(node.func) in self._sets
            case ast.Await():
                return self.is_set(node.value)
            case ast.BinOp(op=ast.BitOr() | ast.BitAnd() | ast.Sub() | ast.BitXor()):
                return any(self.is_set(each) or _is_view(each) for each in (node.left, node.right))
            case ast.IfExp():
                return self.is_set(node.body) or self.is_set(node.orelse)
            case ast.Subscript():
                return _name(node.value) in self._holders
            case ast.Name() | ast.Attribute():
                return _name(node) in self._sets
            case _:
                return False


def _is_view(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "keys"
