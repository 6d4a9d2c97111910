"""The JSON schema of configurations, for editors that complete and check YAML while one types."""

from __future__ import annotations

from typing import Any

from wholebody.configuration import plugins
from wholebody.configuration.fields import model_of, options_of
from wholebody.configuration.settings import Settings

REFERENCE = "#/$defs/{model}"


def json_schema() -> dict[str, Any]:
    """The schema of a configuration, with all tasks, constraints, controllers, interfaces and clocks installed."""
    schema = Settings.model_json_schema(ref_template=REFERENCE)
    defined = schema.setdefault("$defs", {})
    for section in ("tasks", "constraints"):
        kinds = []
        for name in plugins.names(section):
            model = model_of(name, plugins.load(section, name))
            defined[f"{section}.{name}"] = _without_definitions(model.model_json_schema(ref_template=REFERENCE))
            kinds.append({"$ref": f"#/$defs/{section}.{name}"})
        schema["properties"][section]["items"] = {"anyOf": kinds}
    for section, kind in (("controller", "controllers"), ("interface", "interfaces"), ("clock", "clocks")):
        schema["properties"][section] = {"anyOf": _parts(kind)}
    schema["properties"]["include"] = {
        "description": "files whose content comes first",
        "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
    }
    schema["required"] = []  # an included file may say it
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "A controller of wholebody"
    return schema


def _parts(kind: str) -> list[Any]:
    """A name alone, or a mapping with a type and its options."""
    found: list[Any] = [{"enum": list(plugins.names(kind))}]
    for name in plugins.names(kind):
        part = _without_definitions(options_of(plugins.load(kind, name)).model_json_schema(ref_template=REFERENCE))
        part["properties"] = {"type": {"const": name}, **part.get("properties", {})}
        part["required"] = ["type"]
        found.append(part)
    return found


def _without_definitions(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "$defs"}
