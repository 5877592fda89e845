import { describe, expect, test } from '@jest/globals';

import { hasPython, withHarness } from '#tests/support/harness.ts';

/** What `made` comes to between two ends, or the name of the exception and its text. */
const between = (made: string): unknown =>
  withHarness(`
import os, socket, struct, threading
from harness.channel import Channel, MOST_BYTES
a, b = socket.socketpair()
one, other = Channel(a.fileno()), Channel(b.fileno())
try: print(json.dumps(${made}))
except Exception as error: print(json.dumps([type(error).__name__, str(error)]))`);

(hasPython ? describe : describe.skip)('A channel (skipped without python3)', () => {
  test('keeps messages separate and in order', () => {
    expect(between('[one.send("a"), one.send("é" * 9), other.receive(), other.receive()]')).toEqual(
      [null, null, 'a', 'é'.repeat(9)],
    );
  });

  test('carries a message of the largest size, which no pipe holds at once', () => {
    const made =
      '[threading.Thread(target=one.send, args=("x" * MOST_BYTES,)).start(), len(other.receive()) == MOST_BYTES]';
    expect(between(made)).toEqual([null, true]);
  });

  test('refuses a message that is too large, at either end', () => {
    const tooLarge = ['ValueError', 'a message between the sandboxes is too large'];
    expect(between('one.send("x" * (MOST_BYTES + 1))')).toEqual(tooLarge);
    const received = between('[a.send(struct.pack(">I", MOST_BYTES + 1)), other.receive()]');
    expect(received).toEqual(tooLarge);
  });

  test('says that the other end is gone, also in the middle of a message', () => {
    const gone = ['EOFError', 'the other sandbox ended'];
    expect(between('[a.close(), other.receive()]')).toEqual(gone);
    expect(between('[a.send(b"\\0\\0\\0\\5abc"), a.close(), other.receive()]')).toEqual(gone);
  });
});
