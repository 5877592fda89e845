"""Messages between two sandboxes: four bytes of length, most significant first, then JSON text in UTF-8."""

import os

_read, _write, _len, _int_from, _bytes = os.read, os.write, len, int.from_bytes, bytes
_EOFError, _ValueError = EOFError, ValueError

MOST_BYTES = 8 * 1024 * 1024


class Channel:
    """One end. Blocking; used by one thread."""

    def __init__(self, descriptor, most_bytes=MOST_BYTES):
        self._descriptor, self._most_bytes = descriptor, most_bytes

    def send(self, text):
        """Raises ValueError for a message that is too large, OSError when the other end is gone."""
        body = text.encode('utf-8')
        if _len(body) > self._most_bytes:
            raise _ValueError('a message between the sandboxes is too large')
        rest = _len(body).to_bytes(4, 'big') + body
        while rest:
            rest = rest[_write(self._descriptor, rest):]

    def receive(self):
        """Raises EOFError when the other end is gone, ValueError for a message that is too large."""
        length = _int_from(self._exactly(4), 'big')
        if length > self._most_bytes:
            raise _ValueError('a message between the sandboxes is too large')
        return self._exactly(length).decode('utf-8')

    def _exactly(self, count):
        pieces = []
        while count:
            piece = _read(self._descriptor, count)
            if not piece:
                raise _EOFError('the other sandbox ended')
            pieces.append(piece)
            count -= _len(piece)
        return _bytes().join(pieces)
