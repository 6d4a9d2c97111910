"""What a page shows of a desk: who has control, what goes on, what waits, and what became of the orders before."""

from __future__ import annotations

from typing import Any

from wholebody.collaboration.rcp.desk import Desk
from wholebody.collaboration.rcp.orders import TRANSITIONS, State


def desk_news(desk: Desk) -> dict[str, Any]:
    """As JSON; the newest order first."""
    orders = desk.orders
    return {
        "holder": desk.holder.user if desk.holder else "",
        "holder_session": desk.holder.number if desk.holder else 0,
        "viewers": len(desk.sessions),
        "state": orders.state.value,
        "current": orders.current.number if orders.current else 0,
        "choices": orders.choices,
        "waiting": [{"number": each.number, "line": str(each.order)} for each in orders.waiting],
        "log": [
            {"number": each.number, "line": each.line, "stage": each.stage, "text": each.text}
            for each in reversed(orders.log)
        ],
    }


def machine() -> dict[str, Any]:
    """The machine of all orders, to be drawn."""
    return {"states": [state.value for state in State], "transitions": TRANSITIONS}
