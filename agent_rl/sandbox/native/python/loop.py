"""Callbacks on descriptors and at times. One thread."""

import heapq
import itertools
import os
import selectors
import time

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
_CHUNK = 1 << 16


class Loop:
    def __init__(self):
        self._selector = selectors.DefaultSelector()
        self._timers = []
        self._order = itertools.count()
        self._watched = {}

    def watch(self, descriptor, events, callback):
        """Calls back while the descriptor is ready, until `forget`."""
        self._selector.register(descriptor, events, callback)
        self._watched[descriptor] = callback

    def forget(self, descriptor):
        self._selector.unregister(descriptor)
        del self._watched[descriptor]

    def after(self, seconds, callback):
        """Calls back once; the timer can be cancelled by `cancelled = True`."""
        timer = Timer(callback)
        heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._order), timer))
        return timer

    def run(self):
        """Never returns."""
        while True:
            for key, _ in self._selector.select(self._patience()):
                # An earlier callback of this round may have let go of it, and its number may have been given anew.
                if self._watched.get(key.fd) is key.data:
                    key.data()
            self._ring()

    def _patience(self):
        while self._timers and self._timers[0][2].cancelled:
            heapq.heappop(self._timers)
        if not self._timers:
            return None
        return max(0.0, self._timers[0][0] - time.monotonic())

    def _ring(self):
        while self._timers and self._timers[0][0] <= time.monotonic():
            timer = heapq.heappop(self._timers)[2]
            if not timer.cancelled:
                timer.callback()


class Timer:
    def __init__(self, callback):
        self.callback = callback
        self.cancelled = False


class Writer:
    """Writes to a pipe as fast as its reader takes it, and closes it at the end once it is asked to."""

    def __init__(self, loop, descriptor):
        os.set_blocking(descriptor, False)
        self._loop, self._descriptor = loop, descriptor
        self._rest = []
        self._watching = self._closing = self.closed = False

    def write(self, data):
        if not self.closed:
            self._rest.append(memoryview(data))
            self._push()

    def close(self):
        """After what is still to be written."""
        self._closing = True
        if not self._rest:
            self._end()

    def abandon(self):
        """At once."""
        self._rest.clear()
        self._end()

    def _push(self):
        try:
            while self._rest:
                done = os.write(self._descriptor, self._rest[0][: 16 * _CHUNK])
                self._rest[0] = self._rest[0][done:]
                if not len(self._rest[0]):
                    self._rest.pop(0)
        except BlockingIOError:
            pass
        except OSError:
            # The reader is gone.
            return self.abandon()
        if self._rest and not self._watching:
            self._loop.watch(self._descriptor, WRITE, self._push)
            self._watching = True
        elif not self._rest:
            self._unwatch()
            if self._closing:
                self._end()

    def _unwatch(self):
        if self._watching:
            self._loop.forget(self._descriptor)
            self._watching = False

    def _end(self):
        if not self.closed:
            self._unwatch()
            os.close(self._descriptor)
            self.closed = True


class Reader:
    """Keeps the first bytes of a pipe and counts all of them. `on_data` is called after each piece."""

    def __init__(self, loop, descriptor, *, keep, most, on_data):
        os.set_blocking(descriptor, False)
        self._loop, self._descriptor = loop, descriptor
        self._keep, self.most, self._on_data = keep, most, on_data
        self.kept = bytearray()
        self.count = 0
        self._open = True
        loop.watch(descriptor, READ, self._read)

    def take(self):
        """What was kept since the last time, and how many bytes came."""
        taken = bytes(self.kept), self.count
        self.kept, self.count = bytearray(), 0
        return taken

    def drain(self):
        """Takes what lies ready in the pipe. Makes no callback, since the callback calls it."""
        while self._open and self.count <= self.most and self._take():
            pass

    def keep_no_more(self):
        """Keeps what lies ready and nothing after it; that is still counted."""
        self.drain()
        self._keep = len(self.kept)

    def close(self):
        if self._open:
            self._open = False
            self._loop.forget(self._descriptor)
            os.close(self._descriptor)

    def _read(self):
        if self._take():
            self._on_data()

    def _take(self):
        try:
            data = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self.close()
            return False
        self.count += len(data)
        room = self._keep - len(self.kept)
        if room > 0:
            self.kept += data[:room]
        return True
