/**
 * The in-memory files of an instance, as a script whose value is a function of (FS, settings, overQuota): their quota,
 * and the way back to how they were.
 */
export const realmFiles = String.raw`
((FS, settings, overQuota) => {
  const memory = FS.filesystems.MEMFS;

  // ---- quota: bytes and entries of one run
  let fileBytes = 0;
  let storageBytes = 0;
  let fileCount = 0;
  const { expandFileStorage, createNode } = memory;
  memory.expandFileStorage = (node, capacity) => {
    const before = node.contents ? node.contents.length : 0;
    // Emscripten grows a file ahead of need, at most to twice its size.
    const growth = Math.max(0, capacity - before);
    if (storageBytes + growth > 2 * settings.fileBytes) throw overQuota();
    storageBytes += growth;
    return expandFileStorage(node, capacity);
  };
  memory.createNode = (parent, name, mode, device) => {
    if (++fileCount > settings.fileCount) throw overQuota();
    return createNode(parent, name, mode, device);
  };

  // The first write to a file goes past expandFileStorage.
  const countWrite = (node, end) => {
    const growth = Math.max(0, end - (node.usedBytes || 0));
    if (fileBytes + growth > settings.fileBytes) throw overQuota();
    fileBytes += growth;
  };

  // ---- the state to come back to
  const isFolder = (node) => FS.isDir(node.mode) && node.contents && !ArrayBuffer.isView(node.contents);
  const walk = (node, visit) => {
    visit(node);
    if (isFolder(node)) for (const name of Object.keys(node.contents)) walk(node.contents[name], visit);
  };
  const stamp = (node) =>
    node.mode + '/' + (isFolder(node) ? Object.keys(node.contents).join('/') : node.usedBytes);
  const stamps = new Map();
  let baseFileChanged = false;
  const watched = ['setattr', 'rename', 'unlink', 'rmdir', 'write', 'allocate', 'mmap', 'msync'];
  const harmless = (operation, node) =>
    operation === 'write' ? node.isDevice : isFolder(node) && operation !== 'allocate';
  for (const table of Object.values(memory.ops_table)) {
    for (const operations of [table.node, table.stream]) {
      for (const operation of watched) {
        const original = operations && operations[operation];
        if (!original) continue;
        operations[operation] = function (target, ...rest) {
          const node = target && target.node ? target.node : target;
          if (stamps.has(node) && !harmless(operation, node)) baseFileChanged = true;
          // write(stream, buffer, offset, length, position)
          if (operation === 'write' && !node.isDevice) countWrite(node, rest[3] + rest[2]);
          return original.call(this, target, ...rest);
        };
      }
    }
  }

  let folder, nextInode, streams, streamNodes;
  const streamsRestored = () => {
    for (let i = 3; i < FS.streams.length; i++) {
      const stream = FS.streams[i];
      if (stream && stamps.has(stream.node) && stream.flags & 2) return false;
      FS.streams[i] = null;
    }
    return streams.every((stream, i) => FS.streams[i] === stream && stream.node === streamNodes[i]);
  };
  const filesRestored = () => {
    const added = [];
    walk(FS.root, (node) => { if (!stamps.has(node)) added.push(node); });
    for (const node of added) {
      delete node.parent.contents[node.name];
      FS.hashRemoveNode(node);
    }
    for (const [node, before] of stamps) if (stamp(node) !== before) return false;
    return true;
  };

  return {
    save() {
      folder = FS.cwd();
      nextInode = FS.nextInode;
      streams = FS.streams.slice(0, 3);
      streamNodes = streams.map((stream) => stream.node);
      walk(FS.root, (node) => stamps.set(node, stamp(node)));
    },
    /** Quotas begin anew. */
    begin() {
      fileBytes = 0;
      storageBytes = 0;
      fileCount = 0;
      baseFileChanged = false;
    },
    /** The path is relative to the working folder. */
    put(path, bytes) {
      const end = path.lastIndexOf('/');
      if (end > 0) FS.mkdirTree(path.slice(0, end));
      FS.writeFile(path, bytes, { canOwn: true });
    },
    /** True when all is again as it was saved. */
    restore() {
      if (baseFileChanged || !streamsRestored() || !filesRestored()) return false;
      FS.currentPath = folder;
      FS.nextInode = nextInode;
      return true;
    },
  };
})
`;
