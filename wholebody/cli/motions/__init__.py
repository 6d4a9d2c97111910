"""The commands of `wholebody motion` that are more than a page."""
