"""How processes talk: named channels in shared memory, newest message first."""

from wholebody.channels import faults as faults  # now, so that the first error in a loop costs no import
from wholebody.channels._ring import wait_any
from wholebody.channels.channel import Channel, Reader, Writer
from wholebody.channels.layout import Layout

__all__ = ["Channel", "Layout", "Reader", "Writer", "wait_any"]
