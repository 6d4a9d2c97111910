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


# Words that a name of a member must not be, in C or in C++.
_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const const_cast
        constexpr continue decltype default delete do double dynamic_cast else enum explicit export extern false float
        for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private
        protected public register reinterpret_cast requires restrict return short signed sizeof static static_assert
        static_cast struct switch template this thread_local throw true try typedef typeid typename union unsigned using
        virtual void volatile wchar_t while xor xor_eq""",
    )
)
LONGEST = 64
"""Characters of a label that is the name of something, and not a text."""


def c_header(name: str, layout: Layout, alias: str = "") -> str:
    """Write the header of channel `name`: its struct, the names of its labels, and its wb_layout for wb_open().

    All symbols begin with the channel's name, or with `alias`, so that a source fits channels of several names.
    """
    if alias and not re.fullmatch(r"[A-Za-z_]\w*", alias, re.ASCII):
        raise BadLayout(f"'{alias}' is no name in C; give letters, digits and _, such as robot_state")
    symbol = alias or _symbol(name)
    command = f"wholebody channels header {name}{f' --as {alias}' if alias else ''}"
    lines = [
        f"/* {name}: layout {layout.hash:016x}, written by: {command} */",
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
        *_layout(symbol, layout),
        *_for_cpp(symbol, layout.description),
        "#endif",
    ]
    return "\n".join(lines) + "\n"


def _symbol(name: str) -> str:
    symbol = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"_{symbol}" if symbol[0].isdigit() else symbol


def _layout(symbol: str, layout: Layout) -> list[str]:
    return [
        "/* A layout is longer than the texts that every compiler has to take. */",
        "#pragma GCC diagnostic push",
        '#pragma GCC diagnostic ignored "-Woverlength-strings"',
        f"WB_CONSTANT char {symbol}_layout_text[] =",
        *[f"    {json.dumps(part, ensure_ascii=True)}" for part in _parts(layout.text, 96)],
        "    ;",
        "#pragma GCC diagnostic pop",
        f"WB_CONSTANT wb_layout {symbol}_layout = {{",
        f"    sizeof({symbol}), UINT64_C(0x{layout.hash:016x}), {symbol}_layout_text, sizeof {symbol}_layout_text - 1",
        "};",
        "",
    ]


def _for_cpp(symbol: str, description: dict[str, Any]) -> list[str]:
    """Functions by which templates find what belongs to a struct: wholebody/channel.hpp, wholebody/service.hpp."""
    lines = [f"inline const wb_layout &wb_layout_of(const {symbol} *) {{ return {symbol}_layout; }}"]
    if "kinds" in description.get("labels", {}):
        lines += [f"inline auto &wb_kinds_of(const {symbol} *) {{ return {symbol}_kinds_names; }}"]
    return ["#ifdef __cplusplus", *lines, "#endif", ""]


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
        member += "_" if member in _KEYWORDS else ""
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
        constants = [f"{symbol}_{kind}_{_symbol(name)}" for name in names]
        is_sentence = any(len(name) > LONGEST or " " in name for name in names)
        lines.append(f"enum {{ /* index of {kind} */")
        if not is_sentence and len(set(constants)) == len(constants):
            lines += [f"    {constant} = {index}," for index, constant in enumerate(constants)]
        lines += [f"    {symbol}_{kind}_count = {len(names)}", "};"]
        lines += [f"WB_CONSTANT char *const {symbol}_{kind}_names[] = {{"]
        lines += [f"    {json.dumps(name)}," for name in names]
        lines += ["};", ""]
    return lines
