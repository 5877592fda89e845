import { boxCount, shared } from '../protocol.ts';
import { realmChannel } from './realm-channel.ts';
import { realmFiles } from './realm-files.ts';

/**
 * One pyodide inside the bare realm, as a script whose value is a function of (settings, doors) that
 * resolves to the functions the worker runs it by.
 *
 * An instance serves many runs. Before the first one the whole WebAssembly memory is copied; after each run
 * it is put back, bit by bit, and so are the in-memory files and the open streams. A run that called anything
 * which could keep something elsewhere ends the instance: see `restore` and `import-guard.ts`.
 */
export const realmInstance = String.raw`
'use strict';
(async (settings, doors) => {
  const headerBytes = ${shared.headerBytes};
  const { captureBytes, floodBytes } = settings;
  const boxesStart = headerBytes + 2 * captureBytes;
  const shared = new SharedArrayBuffer(boxesStart + ${boxCount * shared.boxBytes});
  const words = new Int32Array(shared, 0, 8);
  const interrupt = new Uint8Array(shared, ${shared.interruptByte}, 1);

  const output = (stream) => {
    const kept = new Uint8Array(shared, headerBytes + stream * captureBytes, captureBytes);
    return {
      isatty: false,
      write(bytes) {
        const start = words[${shared.kept} + stream];
        const room = Math.min(captureBytes - start, bytes.length);
        kept.set(bytes.subarray(0, room), start);
        words[${shared.kept} + stream] = start + room;
        words[${shared.written} + stream] += bytes.length;
        if (words[${shared.written} + stream] > floodBytes) {
          Atomics.store(words, ${shared.flood}, 1);
          for (;;) Atomics.wait(words, ${shared.never}, 0);
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
  const overQuota = () => { words[${shared.quota}] = 1; return new FS.ErrnoError(51); };
  const files = ${realmFiles}(FS, doors, settings, overQuota);
  const channel = ${realmChannel}(FS, shared, boxesStart, interrupt);

  // A first run and a first traceback take ten times as long as later ones: no program shall pay for that.
  python.runPython('__sandbox_run("1 / 0", 0)');
  python.runPython('__sandbox_run("pass", 0)');
  const saved = wasm.HEAPU8.slice();
  const stack = wasm.stackSave();
  files.save();

  /** Values become variables of Python's, by their names. */
  const evaluate = (expression, values) => {
    for (const name of Object.keys(values)) python.globals.set('__sandbox_' + name, values[name]);
    doors.used = false;
    return python.runPython(expression);
  };

  return {
    shared,
    setInput(buffer) { input = new Uint8Array(buffer); read = 0; },
    setMemory(bytes) { doors.heapMaxBytes = bytes; },
    /** Forgets what was captured. */
    begin() {
      words.fill(0);
      interrupt[0] = 0;
    },
    beginFiles() { files.begin(); },
    putFile(path, buffer) { files.put(path, new Uint8Array(buffer)); },
    /** Exit code, or one of ours from 256 on. */
    run: (code, seed) => evaluate('__sandbox_run(__sandbox_code, __sandbox_seed)', { code, seed }),
    /** As run; the results go to the channel, one line of JSON each. */
    calls: (code, entry, args, seed) =>
      evaluate('__sandbox_calls(__sandbox_code, __sandbox_entry, __sandbox_args, __sandbox_seed, __sandbox_results)', {
        code, entry, args, seed, results: channel.openVerdicts(),
      }),
    /** As run, in the variables that the session's earlier programs left. */
    session: (code, seed) =>
      evaluate('__sandbox_session(__sandbox_code, __sandbox_seed)', { code, seed }),
    /** Exit code of a program that was open to tests at the other end of the channel. */
    serve: (code, seed) =>
      evaluate('__sandbox_serve(__sandbox_code, __sandbox_channel, __sandbox_seed)', {
        code, seed, channel: channel.open(),
      }),
    /** Runs tests of the program at the other end of the channel; 0. */
    tests: (args) =>
      evaluate('__sandbox_tests(__sandbox_args, __sandbox_channel, __sandbox_verdicts)', {
        args, channel: channel.open(), verdicts: channel.openVerdicts(),
      }),
    /** True when the instance is again as it was before its first run. */
    restore() {
      if (doors.used || wasm.HEAPU8.length > settings.reuseBytes || !files.restore()) return false;
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
