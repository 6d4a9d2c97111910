"""Who may import whom in wholebody: the rule as data, and a checker that reads source and runs nothing."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import resolve_name
from pathlib import Path

ROOT = "wholebody"

# From low to high. A package imports from the rungs below its own.
LADDER = (
    ("_kernels", "errors", "rotations"),
    ("files", "messages", "plugins", "realtime", "security"),
    ("channels", "ros"),
    ("services",),
    ("parameters", "robots"),
    ("model", "drivers"),
    ("tasks",),  # what is wanted, said once: of inverse kinematics and retargeting as of controllers
    ("kinematics", "constraints", "estimation", "motion", "simulation", "perception"),
    ("control", "locomotion", "planning"),
    ("behaviors",),
    ("configuration",),
    ("processes",),
    ("operator",),
    ("cli",),
)
# The only steps to a neighbour on the same rung.
SIDEWAYS = {"motion": {"kinematics"}, "estimation": {"kinematics"}}
# Beside the ladder: each may import the named package and the rungs below that, and only the users may import it.
BESIDE = {"daemon": "drivers"}
USERS = {"daemon": ("processes", "cli")}
# Folders that import less than their package may: the named package, the rungs below that, and their own package. What
# strangers talk to reaches the robot through what it is handed.
INNER = {"operator.rcp": "kinematics", "operator.page": "kinematics"}
# Other people's packages that one package of ours keeps to itself.
ONLY_IN = {"mujoco": ("simulation", "robots"), "dartpy": ("simulation",)}
# Other people's packages that are not even loaded by way of another module.
NEVER_LOADED_BY = {"daemon": {"pin", "pinocchio", "mujoco", "scipy"}}

PACKAGES = tuple(package for rung in LADDER for package in rung) + tuple(BESIDE)


def may_import(package: str) -> set[str]:
    """The packages of `wholebody` that this one may import, besides itself."""
    if package in BESIDE:
        return _below(BESIDE[package]) | {BESIDE[package]}
    beside = {name for name, users in USERS.items() if package in users}
    return _below(package) | SIDEWAYS.get(package, set()) | beside


def _allowed(name: str, package: str) -> set[str]:
    """What a module of a package may import."""
    ceiling = INNER.get(".".join(name.split(".")[1:3]))
    return (_below(ceiling) | {ceiling} if ceiling else may_import(package)) | {package}


def _below(package: str) -> set[str]:
    rung = next(i for i, names in enumerate(LADDER) if package in names)
    return {name for names in LADDER[:rung] for name in names}


@dataclass(frozen=True)
class Module:
    """One Python file of the package, by its dotted name."""

    name: str
    path: Path

    @property
    def is_package(self) -> bool:
        """Whether the file is the `__init__` of a folder."""
        return self.path.stem == "__init__"

    @property
    def source(self) -> str:
        """The text of the file."""
        return self.path.read_text(encoding="utf-8")


def modules(repository: Path) -> list[Module]:
    """Every module of the package on disk, sorted by name; a stub stands for a module that is not Python."""
    found: dict[str, Module] = {}
    for pattern in ("*.pyi", "*.py"):
        for path in (repository / ROOT).rglob(pattern):
            parts = path.relative_to(repository).with_suffix("").parts
            name = ".".join(parts[:-1] if path.stem == "__init__" else parts)
            found[name] = Module(name, path)
    return [found[name] for name in sorted(found)]


@dataclass(frozen=True)
class Import:
    """An import statement: what it names, where, and whether it runs as soon as its module is loaded."""

    target: str
    line: int
    at_load: bool


def imports(source: str, name: str, is_package: bool = False) -> list[Import]:
    """All imports in a module's source, also those inside functions and those of `import_module("…")`."""
    parent = name if is_package else name.rpartition(".")[0]
    found: list[Import] = []

    def visit(node: ast.AST, at_load: bool) -> None:
        for target in _targets(node, parent):
            found.append(Import(target, getattr(node, "lineno", 0), at_load))
        runs = at_load and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for field, value in ast.iter_fields(node):
            only_for_types = isinstance(node, ast.If) and field == "body" and _is_type_checking(node.test)
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    visit(child, runs and not only_for_types)

    visit(ast.parse(source), True)
    return found


def _targets(node: ast.AST, parent: str) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module=module, names=names, level=level):
            base = resolve_name("." * level + (module or ""), parent)
            yield from (f"{base}.{alias.name}" for alias in names)
        case ast.Call(
            func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(value=str(module)), *_],
        ):
            yield resolve_name(module, parent)


def _is_type_checking(test: ast.expr) -> bool:
    match test:
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return True
    return False


def package_of(name: str) -> str | None:
    """The package a dotted name belongs to: `control` for `wholebody.control.servo`, none for `wholebody`."""
    parts = name.split(".")
    return parts[1] if parts[0] == ROOT and parts[1:] and parts[1] in PACKAGES else None


def violations(source: str, name: str, is_package: bool = False) -> list[str]:
    """What in a module's source breaks the rule, one line each; empty when all is well."""
    package = package_of(name)
    allowed = _allowed(name, package) if package else set()
    broken = []
    for each in imports(source, name, is_package):
        top = each.target.split(".")[0]
        target = package_of(each.target)
        if target and target not in allowed:
            broken.append(f"{name}, line {each.line}: {package or ROOT} may not import {target}")
        if top in ONLY_IN and package not in ONLY_IN[top]:
            broken.append(f"{name}, line {each.line}: only {' and '.join(ONLY_IN[top])} may import {top}")
        if package and top in NEVER_LOADED_BY.get(package, ()):
            broken.append(f"{name}, line {each.line}: {package} may not import {top}")
    return broken


def loaded_with(package: str, repository: Path) -> dict[str, str]:
    """Other people's packages that are loaded with this one of ours, each with the chain that leads there."""
    known = {module.name: module for module in modules(repository)}
    chains = {name: name for name in known if package_of(name) == package}
    waiting = list(chains)
    outside: dict[str, str] = {}
    while waiting:
        name = waiting.pop()
        module = known[name]
        for each in imports(module.source, name, module.is_package):
            if not each.at_load:
                continue
            parts = each.target.split(".")
            if parts[0] != ROOT:
                outside.setdefault(parts[0], f"{chains[name]} → {parts[0]}")
                continue
            for depth in range(1, len(parts) + 1):
                step = ".".join(parts[:depth])
                if step in known and step not in chains:
                    chains[step] = f"{chains[name]} → {step}"
                    waiting.append(step)
    return outside
