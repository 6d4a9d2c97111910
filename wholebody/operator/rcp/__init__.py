"""RCP, the Robot Command Protocol: one line of text, one command; docs/rcp.md is its grammar."""
