import { importGuard } from './import-guard.ts';

/**
 * Textual patches that turn pyodide's JavaScript into scripts for a realm that holds nothing but the
 * language: no Node, no browser, no `eval`, no `import()`.
 *
 * They fit exactly one version of pyodide. Each says how often it must match, so that another build is
 * refused instead of being patched by half.
 */

/** The one version the patches are written for. */
export const pyodideVersion = '314.0.7';

/** Its name, what it finds, what it puts there, and how often. */
type Patch = readonly [name: string, find: string | RegExp, replace: string, matches: number];

const gluePatches: readonly Patch[] = [
  ['module address', /\bimport\.meta\.url/g, '"pyodide.asm.mjs"', 3],
  ['dynamic imports', /\bimport\(/g, '__noImport(', 15],
  [
    'export',
    'export default _createPyodideModule;',
    'globalThis.__createModule=_createPyodideModule;',
    1,
  ],
  // Only dynamic libraries bring code as text, and this build has no dynamic libraries.
  ['code of libraries', '=eval(func)', '=__noImport(func)', 2],
  ['emscripten_run_script', 'eval(UTF8ToString(ptr))', 'undefined', 3],
  ['memory limit', 'var getHeapMax=()=>4294901760', 'var getHeapMax=()=>__doors.heapMaxBytes', 1],
  [
    'entropy',
    /if\(ENVIRONMENT_IS_SHELL\)\{return view=>\{if\(!os\.system\)/g,
    'if(ENVIRONMENT_IS_SHELL){return view=>crypto.getRandomValues(view)}if(false){return view=>{if(!os.system)',
    1,
  ],
  [
    'timers of the C library',
    '_setitimer_js=(which,timeout_ms)=>{',
    '_setitimer_js=(which,timeout_ms)=>{__doors.used=true;',
    1,
  ],
  [
    'guarded imports',
    'function getWasmImports(){',
    'function getWasmImports(){__guard(wasmImports);',
    1,
  ],
  // Else an entry named __proto__ could never be found.
  [
    'folders without a prototype',
    'node.stream_ops=MEMFS.ops_table.dir.stream;node.contents={}',
    'node.stream_ops=MEMFS.ops_table.dir.stream;node.contents={__proto__:null}',
    1,
  ],
  ['pipes', 'var PIPEFS={', 'var PIPEFS=__doors.pipes={', 1],
  ['terminals', 'var TTY={', 'var TTY=__doors.terminals={', 1],
  // Read and cleared in two steps, an interrupt that comes between them is lost, and with it the session it should spare.
  [
    'interrupts',
    'let result=Module.Py_EmscriptenSignalBuffer[0];Module.Py_EmscriptenSignalBuffer[0]=0;return result',
    'return Atomics.exchange(Module.Py_EmscriptenSignalBuffer,0,0)',
    1,
  ],
  // What one run leaves of a block of random bytes would be the next one's.
  [
    'random devices',
    'var randomBuffer=new Uint8Array(1024),',
    'var randomBuffer=new Uint8Array(1),',
    1,
  ],
];

const loaderPatches: readonly Patch[] = [
  ['dynamic imports', /\bimport\(/g, '__noImport(', 13],
  ['exports', /export\s*\{dt as loadPyodide,U as version\};/g, 'globalThis.__loadPyodide=dt;', 1],
  ['source map', /\/\/# sourceMappingURL.*/g, '', 1],
];

/** Functions through which Python reaches JavaScript objects, foreign code or the shell. */
const door =
  /function (?:JsProxy_\w+|JsvObject_Call\w+|JsvFunction_C\w+|JsArray_\w+|JsObjMap_\w+|JsMap_\w+|JsvBuffer_\w+|JsModule_\w+|JsException_new_helper|ffi_call_js|ffi_closure_alloc_js|ffi_prep_closure_loc_js|raw_call_js|__emscripten_dlopen_js|python2js__\w+|python2js_custom__\w+|pyproxy_new|pyproxy_new_ex|JsvPromise_\w+|_emscripten_run_script\w*|__emscripten_system)\([^)]*\)\{/g;
const doorCount = 57;

const countOf = (text: string, find: string | RegExp): number =>
  typeof find === 'string' ? text.split(find).length - 1 : [...text.matchAll(find)].length;

const mismatch = (name: string, seen: number, expected: number): Error =>
  new Error(
    `The patch "${name}" matched ${seen} times, expected ${expected}: this is not an unmodified pyodide ${pyodideVersion}. Reinstall it.`,
  );

function apply(text: string, [name, find, replace, matches]: Patch): string {
  const seen = countOf(text, find);
  if (seen !== matches) throw mismatch(name, seen, matches);
  return text.replaceAll(find, () => replace);
}

/**
 * The Emscripten module as a script that defines `__createModule`. It shares one object, `__doors`, with
 * its caller: `used` becomes true when Python left WebAssembly otherwise than for what is put back after a run,
 * `heapMaxBytes` bounds the memory, and `pipes` and `terminals` are Emscripten's.
 *
 * @throws Error when the text is not that of the pinned version.
 */
export function patchGlue(source: string): string {
  const patched = gluePatches.reduce(apply, source);
  const doors = countOf(patched, door);
  if (doors !== doorCount)
    throw mismatch('ways for Python code to reach JavaScript', doors, doorCount);
  const flagged = patched.replaceAll(door, (head) => `${head}__doors.used=true;`);
  return `(__doors=>{"use strict";${importGuard}${flagged}})`;
}

/** pyodide's loader as a script that defines `__loadPyodide`. @throws Error as `patchGlue` does. */
export function patchLoader(source: string): string {
  return `(()=>{"use strict";${loaderPatches.reduce(apply, source)}})()`;
}
