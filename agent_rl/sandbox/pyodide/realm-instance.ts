/**
 * One pyodide inside the bare realm, as a script whose value is a function of (settings, doors) that
 * resolves to the functions the worker runs it by.
 *
 * An instance serves many runs. Before the first one the whole WebAssembly memory is copied; after each run
 * it is put back, bit by bit, and so are the in-memory files and the open streams. A run that did anything
 * which lives outside that memory ends the instance: see `restore`.
 */
export const realmInstance = String.raw`
'use strict';
(async (settings, doors) => {
  const headerBytes = 64;
  const { captureBytes, floodBytes } = settings;
  const shared = new SharedArrayBuffer(headerBytes + 2 * captureBytes);
  // Words: bytes written and bytes kept of stdout and stderr, flood, quota, and one that never changes.
  const words = new Int32Array(shared, 0, 8);
  const [WRITTEN, KEPT, FLOOD, QUOTA, NEVER] = [0, 2, 4, 5, 6];
  const interrupt = new Uint8Array(shared, 60, 1);

  const output = (stream) => {
    const kept = new Uint8Array(shared, headerBytes + stream * captureBytes, captureBytes);
    return {
      isatty: false,
      write(bytes) {
        const start = words[KEPT + stream];
        const room = Math.min(captureBytes - start, bytes.length);
        kept.set(bytes.subarray(0, room), start);
        words[KEPT + stream] = start + room;
        words[WRITTEN + stream] += bytes.length;
        if (words[WRITTEN + stream] > floodBytes) {
          Atomics.store(words, FLOOD, 1);
          for (;;) Atomics.wait(words, NEVER, 0);
        }
        return bytes.length;
      },
    };
  };

  let input = new Uint8Array(0);
  let read = 0;
  const stdin = {
    isatty: false,
    read(target) {
      const part = input.subarray(read, read + target.length);
      target.set(part);
      read += part.length;
      return part.length;
    },
  };

  const options = {
    createPyodideModule: globalThis.__createModule,
    indexURL: '/p/',
    lockFileContents: { info: settings.lockInfo, packages: {} },
    packageBaseUrl: '/none/',
    jsglobals: {},
    env: { HOME: '/home', PYTHONHASHSEED: '0' },
    checkAPIVersion: false,
  };
  if (settings.makeSnapshot) options._makeSnapshot = true;
  else options._loadSnapshot = globalThis.readbuffer('snapshot.bin');
  const python = await globalThis.__loadPyodide(options);
  for (const name of ['__loadPyodide', '__createModule']) delete globalThis[name];
  if (settings.makeSnapshot) {
    python.runPython(settings.boot);
    return { snapshot: () => python.makeMemorySnapshot() };
  }
  python.setStdout(output(0));
  python.setStderr(output(1));
  python.setStdin(stdin);
  python.setInterruptBuffer(interrupt);

  const { FS, _module: wasm } = python;
  const memory = FS.filesystems.MEMFS;

  // ---- quota of files: bytes and entries of one run
  let fileBytes = 0;
  let storageBytes = 0;
  let fileCount = 0;
  const overQuota = () => { words[QUOTA] = 1; return new FS.ErrnoError(51); };
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

  python.runPython('__sandbox_run("pass", 0)');
  const saved = wasm.HEAPU8.slice();
  const stack = wasm.stackSave();
  const folder = FS.cwd();
  const nextInode = FS.nextInode;
  const streams = FS.streams.slice(0, 3);
  const streamNodes = streams.map((stream) => stream.node);
  walk(FS.root, (node) => stamps.set(node, stamp(node)));

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
    shared,
    setInput(buffer) { input = new Uint8Array(buffer); read = 0; },
    setMemory(bytes) { doors.heapMaxBytes = bytes; },
    begin() {
      fileBytes = 0;
      storageBytes = 0;
      fileCount = 0;
      baseFileChanged = false;
      words.fill(0);
      interrupt[0] = 0;
    },
    /** Exit code, or one of ours from 256 on. */
    run(code, seed) {
      python.globals.set('__sandbox_code', code);
      doors.used = false;
      return python.runPython('__sandbox_run(__sandbox_code, ' + (seed >>> 0) + ')');
    },
    /** Exit code, a line break, and the results as JSON. */
    calls(code, entry, args, seed) {
      python.globals.set('__sandbox_code', code);
      python.globals.set('__sandbox_entry', entry);
      python.globals.set('__sandbox_args', args);
      doors.used = false;
      return python.runPython(
        '__sandbox_calls(__sandbox_code, __sandbox_entry, __sandbox_args, ' + (seed >>> 0) + ')',
      );
    },
    /** True when the instance is again as it was before its first run. */
    restore() {
      if (doors.used || baseFileChanged || wasm.HEAPU8.length > settings.reuseBytes) return false;
      if (!streamsRestored() || !filesRestored()) return false;
      FS.currentPath = folder;
      FS.nextInode = nextInode;
      input = new Uint8Array(0);
      const heap = wasm.HEAPU8;
      if (heap.length > saved.length) heap.fill(0, saved.length);
      heap.set(saved);
      wasm.stackRestore(stack);
      return true;
    },
  };
})
`;
