"""How people command a running robot, by lines of text or on its page: what they ask, carried out by its processes."""
