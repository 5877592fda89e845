/** As Linux. */
const pipeBytes = 64 * 1024;

/**
 * Bounds of what a run keeps in files and pipes, which lie outside Python's memory, as a script whose value is a function
 * of (FS, pipes, settings, overQuota).
 */
export const realmQuota = String.raw`
((FS, pipes, settings, overQuota) => {
  const memory = FS.filesystems.MEMFS;
  let fileBytes = 0;
  let storageBytes = 0;
  let fileCount = 0;
  const countEntries = (number) => {
    fileCount += number;
    if (fileCount > settings.fileCount) throw overQuota();
  };
  const countStorage = (growth) => {
    // Emscripten grows a file ahead of need, at most to twice its size.
    if (storageBytes + growth > 2 * settings.fileBytes) throw overQuota();
    storageBytes += growth;
  };
  const countWrite = (node, end) => {
    const growth = Math.max(0, end - (node.usedBytes || 0));
    if (fileBytes + growth > settings.fileBytes) throw overQuota();
    fileBytes += growth;
  };

  const { createNode, expandFileStorage, resizeFileStorage } = memory;
  const countCapacity = (node, capacity) =>
    countStorage(Math.max(0, capacity - (node.contents ? node.contents.length : 0)));
  memory.expandFileStorage = (node, capacity) => {
    countCapacity(node, capacity);
    return expandFileStorage(node, capacity);
  };
  memory.resizeFileStorage = (node, size) => {
    countWrite(node, size);
    countCapacity(node, size);
    return resizeFileStorage(node, size);
  };
  memory.createNode = (parent, name, mode, device) => {
    countEntries(1);
    return createNode(parent, name, mode, device);
  };

  const { createPipe } = pipes;
  pipes.createPipe = () => {
    countEntries(2);
    countStorage(${pipeBytes});
    return createPipe();
  };
  const { write } = pipes.stream_ops;
  pipes.stream_ops.write = (stream, source, offset, length) => {
    const held = stream.node.pipe.buckets.reduce((sum, bucket) => sum + bucket.offset - bucket.roffset, 0);
    const part = Math.min(length, ${pipeBytes} - held);
    // EAGAIN: nothing could read while this one waits.
    if (part === 0 && length > 0) throw new FS.ErrnoError(6);
    return write(stream, source, offset, part);
  };

  return {
    countWrite,
    /** All that was counted is forgotten. */
    begin() {
      fileBytes = 0;
      storageBytes = 0;
      fileCount = 0;
    },
  };
})
`;
