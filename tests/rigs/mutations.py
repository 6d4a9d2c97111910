"""Files as an enemy, a bad disk or a bad editor would leave them: a right one, mutilated."""

import random

MARKS = rb"""- 0 nan 1e999 -1e308 [ ] { } : ' " &a *a < /> !!bool 99999999999999999999 ../ %s""".split()
MARKS += [b"\0", b"\xff", b"\n", b" ", b"\xc3\x28", b"\xe2\x80\xae"]


def mutilated(right: bytes, chance: random.Random) -> bytes:
    """A few pieces taken out, doubled, moved, overwritten, or put in, most of them short."""
    data = bytearray(right)
    for _ in range(chance.choice((1, 1, 1, 2, 4, 16))):
        at = chance.randrange(len(data) + 1)
        end = min(len(data), at + chance.choice((1, 1, 2, 8, 64, 1024)))
        piece = bytes(data[at:end])
        what = chance.randrange(7)
        if what == 0:
            del data[at:end]
        elif what == 1:
            data[at:at] = piece * chance.choice((1, 1, 2, 50))
        elif what == 2:
            del data[at:end]
            there = chance.randrange(len(data) + 1)
            data[there:there] = piece
        elif what == 3 and piece:
            data[at] ^= 1 << chance.randrange(8)
        elif what == 4:
            data[at:end] = chance.randbytes(end - at)
        elif what == 5:
            data[at:end] = chance.choice(MARKS)
        else:
            del data[at:]
        data[:] = data or b" "
    return bytes(data)
