"""Files of other people, read within bounds: text of a size that can be meant; YAML and XML that cannot blow up."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import yaml

from wholebody.errors import WholebodyError

MOST_BYTES = 64 << 20
"""Of a file of text; the longest that was ever meant, an hour of motion capture, has half of it."""
MOST_VALUES = 2_000_000
"""Of a YAML file, once every alias is written out."""
DEEPEST = 50
"""Parts of a YAML file within each other."""
DEEPEST_XML = 200
"""Elements of an XML file within each other."""
PART = 1 << 16
"""Bytes of an XML file between two looks at how deep it is."""


def bytes_of(path: str | Path, wrong: type[WholebodyError]) -> bytes:
    """What is in a file; `wrong` is raised if it cannot be read, or is too large to be meant."""
    try:
        with Path(path).open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise wrong(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise wrong(f"{str(path)!r} cannot be read: {error}") from None
    if len(raw) > MOST_BYTES:
        raise wrong(f"{path} has more than {MOST_BYTES >> 20} MB; no file of this kind is as long")
    return raw


def text_of(path: str | Path, wrong: type[WholebodyError]) -> str:
    """What a file of text says; `wrong` is raised if it is no UTF-8, too, and says in which line."""
    raw = bytes_of(path, wrong)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise wrong(f"{path}, line {line}: byte 0x{raw[error.start]:02x} is no UTF-8 text; save it as UTF-8") from None


def yaml_of(path: str | Path, wrong: type[WholebodyError]) -> Any:
    """What a YAML file says, as plain data; `wrong` is raised if it is none, or too large or deep to be meant."""
    node = yaml_nodes(path, wrong)
    return None if node is None else plain(node, str(path), wrong)


def yaml_nodes(path: str | Path, wrong: type[WholebodyError]) -> yaml.Node | None:
    """The same as nodes that know their lines; None if the file says nothing."""
    text = text_of(path, wrong)
    try:
        deep = _too_deep(text)
        node: yaml.Node | None = None if deep else yaml.compose(text, Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        raise wrong(
            f"{path}{line}: this is no YAML, so it cannot be read: {getattr(error, 'problem', None) or error}"
        ) from None
    if deep:
        raise wrong(f"{path}:{deep}: nested more than {DEEPEST} deep")
    if node is None:
        return None
    values, _ = _size(node, 0, {}, path, wrong)
    if values > MOST_VALUES:
        raise wrong(f"{path} has {values:.3g} values once its aliases are written out; at most {MOST_VALUES:,}")
    return node


def xml_of(path: str | Path, wrong: type[WholebodyError]) -> ET.Element:
    """The root element of an XML file; `wrong` is raised if it is none, declares entities, or is nested too deeply."""
    raw = bytes_of(path, wrong)
    if b"<!ENTITY" in raw:
        raise wrong(f"{path} declares entities, which can blow up when they are written out; write them out yourself")
    parser: Any = ET.XMLPullParser(("start", "end"))
    depth = 0
    root = ET.Element("")
    try:
        for begin in range(0, len(raw), PART):
            parser.feed(raw[begin : begin + PART])
            for event, element in parser.read_events():
                depth += 1 if event == "start" else -1
                if depth > DEEPEST_XML:
                    raise wrong(f"{path} is nested more than {DEEPEST_XML} deep, at <{element.tag}>")
                root = element  # the last one to end
        parser.close()
    except ET.ParseError as error:
        raise wrong(f"{path} is not XML: {error}") from error
    return root


def plain(node: yaml.Node, where: str, wrong: type[WholebodyError]) -> Any:
    """The data of a node."""
    loader = yaml.SafeLoader("")
    try:
        return loader.construct_document(node)
    except (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError) as error:  # as `!!bool perhaps` does
        raise wrong(
            f"{where}: {getattr(error, 'problem', None) or f'a value that is none of its kind: {error}'}"
        ) from None
    finally:
        loader.dispose()


def _too_deep(text: str) -> int:
    """The line where YAML is nested too deeply, or 0: composing a million brackets would end the process."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            return int(event.start_mark.line) + 1
    return 0


def _size(
    node: yaml.Node, depth: int, known: dict[int, tuple[int, int]], path: str | Path, wrong: type[WholebodyError]
) -> tuple[int, int]:
    """How many values a node has with all aliases written out, and how deep it is; each node is counted once."""
    if id(node) not in known:
        if depth > DEEPEST:
            line = node.start_mark.line + 1
            raise wrong(f"{path}:{line}: nested more than {DEEPEST} deep, or a part that contains itself")
        parts = node.value if isinstance(node, yaml.CollectionNode) else ()
        if isinstance(node, yaml.MappingNode):
            parts = [each for pair in parts for each in pair]
        sizes = [_size(each, depth + 1, known, path, wrong) for each in parts]
        known[id(node)] = 1 + sum(size for size, _ in sizes), 1 + max((height for _, height in sizes), default=0)
    values, height = known[id(node)]
    if depth + height > DEEPEST + 1:
        raise wrong(
            f"{path}:{node.start_mark.line + 1}: nested more than {DEEPEST} deep, once its aliases are written out"
        )
    return values, height
