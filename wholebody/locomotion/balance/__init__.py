"""Not falling: the area that feet span, its regions, and stabilizers, each behind one interface, chosen by name."""
