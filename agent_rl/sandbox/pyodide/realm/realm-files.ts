import { realmQuota } from './realm-quota.ts';

/**
 * The in-memory files of an instance, as a script whose value is a function of (FS, doors, settings, overQuota): their
 * quota, and the way back to how they were.
 *
 * The way back asks nothing of what a run left: it writes down again every folder's entries, every property of every
 * node and of the standard streams, and the whole table by which Emscripten finds a node by its name.
 */
export const realmFiles = String.raw`
((FS, doors, settings, overQuota) => {
  const quota = ${realmQuota}(FS, doors.pipes, settings, overQuota);

  const copyOf = (object) => Object.assign(Object.create(null), object);
  const putBack = (object, saved) => {
    for (const key of Object.keys(object)) if (!(key in saved)) delete object[key];
    for (const key of Object.keys(saved)) object[key] = saved[key];
  };
  const isFolder = (node) => FS.isDir(node.mode) && node.contents && !ArrayBuffer.isView(node.contents);

  // ---- bytes of the files that were there, which are too many to copy
  const nodes = new Map();
  let baseFileChanged = false;
  const watched = ['setattr', 'rename', 'unlink', 'rmdir', 'write', 'allocate', 'mmap', 'msync'];
  const harmless = (operation, node) =>
    operation === 'write' ? node.isDevice : isFolder(node) && operation !== 'allocate';
  for (const table of Object.values(FS.filesystems.MEMFS.ops_table)) {
    for (const operations of [table.node, table.stream]) {
      for (const operation of watched) {
        const original = operations && operations[operation];
        if (!original) continue;
        operations[operation] = function (target, ...rest) {
          const node = target && target.node ? target.node : target;
          if (nodes.has(node) && !harmless(operation, node)) baseFileChanged = true;
          // write(stream, buffer, offset, length, position)
          if (operation === 'write' && !node.isDevice) quota.countWrite(node, rest[3] + rest[2]);
          return original.call(this, target, ...rest);
        };
      }
    }
  }

  // ---- everything else
  let folder, nextInode, nameTable, streams;
  const keep = (node) => {
    nodes.set(node, { own: copyOf(node), entries: isFolder(node) ? copyOf(node.contents) : undefined });
  };
  const streamsRestored = () => {
    for (let i = 3; i < FS.streams.length; i++) {
      const stream = FS.streams[i];
      if (stream && nodes.has(stream.node) && stream.flags & 2) return false;
    }
    if (!streams.every(({ stream }, i) => FS.streams[i] === stream)) return false;
    FS.streams.length = streams.length;
    for (const { stream, own, shared } of streams) {
      putBack(stream, own);
      putBack(stream.shared, shared);
    }
    return true;
  };
  const putBackNodes = () => {
    for (const [node, { own, entries }] of nodes) {
      putBack(node, own);
      // A new object, because the order of entries shows too.
      if (entries) node.contents = copyOf(entries);
    }
    for (let i = 0; i < nameTable.length; i++) FS.nameTable[i] = nameTable[i];
    for (const terminal of Object.values(doors.terminals.ttys)) {
      terminal.input = [];
      terminal.output = [];
    }
  };

  return {
    save() {
      folder = FS.cwd();
      nextInode = FS.nextInode;
      nameTable = FS.nameTable.slice();
      for (const first of nameTable) for (let node = first; node; node = node.name_next) keep(node);
      streams = FS.streams.slice(0, 3).map((stream) => {
        keep(stream.node);
        return { stream, own: copyOf(stream), shared: copyOf(stream.shared) };
      });
    },
    /** Quotas begin anew. */
    begin() {
      quota.begin();
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
      if (baseFileChanged || !streamsRestored()) return false;
      putBackNodes();
      FS.currentPath = folder;
      FS.nextInode = nextInode;
      return true;
    },
  };
})
`;
