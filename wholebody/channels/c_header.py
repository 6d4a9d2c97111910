"""A channel's layout as a C header, so that a controller in C or C++ shares it with Python."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from wholebody.channels.layout import Layout
from wholebody.errors import BadLayout

_TYPES = {
    "b1": "uint8_t",
    "f4": "float",
    "f8": "double",
    **{f"i{size}": f"int{8 * size}_t" for size in (1, 2, 4, 8)},
    **{f"u{size}": f"uint{8 * size}_t" for size in (1, 2, 4, 8)},
}


def c_header(name: str, layout: Layout) -> str:
    """Write the header of channel `name`: its struct, the names of its labels, and its wb_layout for wb_open()."""
    symbol = _symbol(name)
    lines = [
        f"/* {name}: layout {layout.hash:016x}, written by: wholebody channels header {name} */",
        f"#ifndef WHOLEBODY_{symbol.upper()}",
        f"#define WHOLEBODY_{symbol.upper()}",
        "",
        "#include <assert.h>",
        "#include <stddef.h>",
        "#include <stdint.h>",
        "",
        '#include "ring.h"',
        "",
        *_struct(symbol, layout.description),
        *_labels(symbol, layout.description.get("labels", {})),
        f"static const char {symbol}_layout_text[] =",
        *[f"    {json.dumps(part, ensure_ascii=True)}" for part in _parts(layout.text, 96)],
        "    ;",
        f"static const wb_layout {symbol}_layout = {{",
        f"    sizeof({symbol}), UINT64_C(0x{layout.hash:016x}), {symbol}_layout_text, sizeof {symbol}_layout_text - 1",
        "};",
        "",
        "#endif",
    ]
    return "\n".join(lines) + "\n"


def _symbol(name: str) -> str:
    symbol = re.sub(r"\W", "_", name)
    return f"_{symbol}" if symbol[0].isdigit() else symbol


def _parts(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def _struct(symbol: str, description: dict[str, Any]) -> list[str]:
    before: list[str] = []
    members: list[str] = []
    checks: list[str] = []
    end = padding = 0
    packed = not _is_aligned(description)
    for name, kind, shape, offset in description["fields"]:
        member = _symbol(name or "value")
        if offset < end:
            raise BadLayout(f"field '{name}' overlaps the one before it; C has no such struct")
        if offset > end:
            members.append(f"    uint8_t padding_{padding}[{offset - end}];")
            padding += 1
        c_type, extra, size = _c_type(f"{symbol}_{member}", kind, before)
        members.append(f"    {c_type} {member}{''.join(f'[{count}]' for count in [*shape, *extra])};")
        checks.append(f'static_assert(offsetof({symbol}, {member}) == {offset}, "{member}");')
        end = offset + size * int(np.prod(shape, dtype=int))
    if end < description["size"]:
        members.append(f"    uint8_t padding_{padding}[{description['size'] - end}];")
    attribute = " __attribute__((packed))" if packed else ""
    return [
        *before,
        f"typedef struct{attribute} {symbol} {{",
        *members,
        f"}} {symbol};",
        *checks,
        f'static_assert(sizeof({symbol}) == {description["size"]}, "size");',
        "",
    ]


def _c_type(symbol: str, kind: str | dict[str, Any], before: list[str]) -> tuple[str, list[int], int]:
    """Return a field's C type, the array bound its text needs, and its size; nested structs go to `before`."""
    if not isinstance(kind, str):
        before += _struct(symbol, kind)
        return symbol, [], kind["size"]
    dtype = np.dtype(kind)
    if dtype.kind == "S":
        return "char", [dtype.itemsize], dtype.itemsize
    c_type = _TYPES.get(f"{dtype.kind}{dtype.itemsize}")
    if c_type is None or dtype.byteorder == ">":
        raise BadLayout(f"type '{kind}' has no counterpart in C; use f4, f8, i1–i8, u1–u8, bool or 'S16' text")
    return c_type, [], dtype.itemsize


def _is_aligned(description: dict[str, Any]) -> bool:
    alignment = _alignment(description)
    return description["size"] % alignment == 0 and all(
        offset % _alignment(kind) == 0 and (isinstance(kind, str) or _is_aligned(kind))
        for _, kind, _, offset in description["fields"]
    )


def _alignment(kind: str | dict[str, Any]) -> int:
    if isinstance(kind, str):
        return np.dtype(kind).alignment
    return max(_alignment(inner) for _, inner, _, _ in kind["fields"])


def _labels(symbol: str, labels: dict[str, list[str]]) -> list[str]:
    lines = []
    for kind, names in labels.items():
        lines.append(f"enum {{ /* index of {kind} */")
        lines += [f"    {symbol}_{kind}_{_symbol(name)} = {index}," for index, name in enumerate(names)]
        lines += [f"    {symbol}_{kind}_count = {len(names)},", "};"]
        lines += [f"static const char *const {symbol}_{kind}_names[] = {{"]
        lines += [f"    {json.dumps(name)}," for name in names]
        lines += ["};", ""]
    return lines
