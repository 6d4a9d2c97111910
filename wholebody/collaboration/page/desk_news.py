"""What a page shows of a desk: who has control, what goes on, what waits, and what became of the orders before."""

from __future__ import annotations

from typing import Any

from wholebody.collaboration.rcp.desk import Desk
from wholebody.collaboration.rcp.machines import QUEUE, SERVER, Machine


def desk_news(desk: Desk) -> dict[str, Any]:
    """As JSON; the newest order first."""
    orders = desk.orders
    return {
        "holder": desk.holder.user if desk.holder else "",
        "holder_session": desk.holder.number if desk.holder else 0,
        "viewers": len(desk.sessions),
        "state": orders.machine.state,
        "server": desk.machine.state,
        "current": orders.current.number if orders.current else 0,
        "choices": orders.choices,
        "troubles": desk.troubles,
        "waiting": [{"number": each.number, "line": str(each.order)} for each in orders.waiting],
        "log": [
            {"number": each.number, "line": each.line, "stage": each.stage, "text": each.text}
            for each in reversed(orders.log)
        ],
    }


def machines() -> dict[str, Any]:
    """The machines of control and of orders, to be drawn."""
    tables = {"server": SERVER, "queue": QUEUE}
    return {name: {"states": Machine(table).states, "transitions": table} for name, table in tables.items()}
