"""The ring against a simple model of it: a list of everything ever put."""

import itertools
import os

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from wholebody.channels import Channel
from wholebody.errors import TooManyWriters

NUMBERS = itertools.count()


class RingMachine(RuleBasedStateMachine):
    """Puts and reads in any order, writers and readers coming and going; the model keeps what each must see."""

    writers, readers = Bundle("writers"), Bundle("readers")

    @initialize(depth=st.integers(2, 7), limit=st.integers(1, 4), size=st.integers(1, 40))
    def create(self, depth, limit, size):
        self.depth, self.limit = depth, limit
        name = f"model.{os.getpid()}.{next(NUMBERS)}"
        self.channel = Channel(name, np.dtype(("i8", (size,))), depth=depth, writers=limit)
        self.put_so_far = []  # message of sequence s is put_so_far[s - 1]
        self.living = 0
        self.cursors = {}

    def teardown(self):
        if hasattr(self, "channel"):
            self.channel.path.unlink()

    @rule(target=writers)
    def open_writer(self):
        try:
            writer = self.channel.writer()
        except TooManyWriters:
            assert self.living == self.limit
            return None
        assert self.living < self.limit
        self.living += 1
        return writer

    @rule(writer=consumes(writers))
    def close_writer(self, writer):
        if writer is not None:
            writer.close()
            self.living -= 1

    @rule(writer=writers, value=st.integers(-(2**62), 2**62))
    def put(self, writer, value):
        if writer is None:
            return
        writer.message[...] = value
        writer.put()
        self.put_so_far.append(value)
        assert writer.sequence == len(self.put_so_far)

    @rule(target=readers)
    def open_reader(self):
        reader = self.channel.reader()
        self.cursors[reader] = 0
        return reader

    @rule(reader=readers)
    def latest(self, reader):
        newest = len(self.put_so_far)
        assert reader.latest() == (newest > self.cursors[reader])
        self.check_taken(reader, newest)

    @rule(reader=readers)
    def next(self, reader):
        newest = len(self.put_so_far)
        wanted = max(self.cursors[reader] + 1, newest - self.depth + 1)
        assert reader.next() == (wanted <= newest)
        if wanted <= newest:
            self.check_taken(reader, wanted)

    @rule(reader=readers, back=st.integers(-2, 9))
    def at(self, reader, back):
        newest = len(self.put_so_far)
        sequence = max(0, newest - back)
        kept = max(0, newest - self.depth) < sequence <= newest
        assert reader.at(sequence) == kept
        if kept:
            self.check_message(reader, sequence)

    @invariant()
    def nothing_put_is_lost_or_added(self):
        if hasattr(self, "channel"):
            assert self.channel.newest == len(self.put_so_far)

    def check_taken(self, reader, sequence):
        if sequence > self.cursors[reader]:
            before = self.cursors[reader]
            assert reader.missed == (sequence - before - 1 if before else 0)
            self.cursors[reader] = sequence
            self.check_message(reader, sequence)

    def check_message(self, reader, sequence):
        assert reader.sequence == sequence
        assert (reader.message == self.put_so_far[sequence - 1]).all()


RingMachine.TestCase.settings = settings(max_examples=150, stateful_step_count=40)
test_the_ring_does_what_the_model_does = RingMachine.TestCase
