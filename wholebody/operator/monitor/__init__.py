"""How a running robot looks, to `read` and `status`: watched, as plain data, as tables."""
