import { box, shared } from '../protocol.ts';

/**
 * The realm's end of a channel, as a script whose value is a function of (FS, buffer, start, interrupt): two open files
 * without a name, of which one is read and written in blocks of bytes, and the other takes verdicts or results.
 *
 * The bytes lie in boxes in the buffer, from `start` on. A box is written while its count is 0 and read while it is not;
 * the side that changes one rings the other side's bell. The files exist only between `open` and the end of a run, and nothing
 * in the file system leads to them, so a program that is given no descriptor has no way to them.
 */
export const realmChannel = String.raw`
((FS, buffer, start, interrupt) => {
  const words = new Int32Array(buffer, 0, ${shared.words});
  const boxOf = (place) => ({
    bytes: new Uint8Array(buffer, start + place * ${shared.boxBytes}, ${shared.boxBytes}),
    word: ${shared.boxes} + place,
  });
  const incoming = boxOf(${box.incoming});
  let taken = 0;

  const isClosed = () => Atomics.load(words, ${shared.closed}) === 1;
  const count = ({ word }) => Atomics.load(words, word);
  const setCount = ({ word }, value) => {
    Atomics.store(words, word, value);
    Atomics.add(words, ${shared.mainBell}, 1);
    Atomics.notify(words, ${shared.mainBell});
  };
  const waitUntil = (isSo) => {
    for (;;) {
      const bell = Atomics.load(words, ${shared.realmBell});
      if (isSo()) return;
      // EINTR: Python looks at its interrupts and reads or writes again.
      if (interrupt[0] !== 0) throw new FS.ErrnoError(27);
      Atomics.wait(words, ${shared.realmBell}, bell);
    }
  };

  const read = (_stream, target, offset, length) => {
    if (length === 0) return 0;
    waitUntil(() => count(incoming) > 0 || isClosed());
    const size = count(incoming);
    if (size === 0) return 0;
    const part = Math.min(length, size - taken);
    target.set(incoming.bytes.subarray(taken, taken + part), offset);
    taken += part;
    if (taken === size) {
      taken = 0;
      setCount(incoming, 0);
    }
    return part;
  };
  const writeTo = (target, isGone) => (_stream, source, offset, length) => {
    if (length === 0) return 0;
    waitUntil(() => count(target) === 0 || isGone());
    if (isGone()) throw new FS.ErrnoError(64);
    const part = Math.min(length, target.bytes.length);
    target.bytes.set(source.subarray(offset, offset + part));
    setCount(target, part);
    return part;
  };

  const open = (stream_ops) => {
    const node = new FS.FSNode(null, 'channel', 0o020600, 0);
    return FS.createStream({ node, flags: 2, seekable: false, stream_ops }).fd;
  };
  return {
    /** Descriptor of the channel's end. */
    open() {
      taken = 0;
      return open({ read, write: writeTo(boxOf(${box.outgoing}), isClosed) });
    },
    /** Descriptor that takes verdicts or results. */
    openVerdicts: () => open({ write: writeTo(boxOf(${box.verdicts}), () => false) }),
  };
})
`;
