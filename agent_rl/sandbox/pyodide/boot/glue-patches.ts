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

interface Patch {
  name: string;
  find: string | RegExp;
  replace: string;
  matches: number;
}

const gluePatches: readonly Patch[] = [
  {
    name: 'module address',
    find: /\bimport\.meta\.url/g,
    replace: '"pyodide.asm.mjs"',
    matches: 3,
  },
  { name: 'dynamic imports', find: /\bimport\(/g, replace: '__noImport(', matches: 15 },
  {
    name: 'export',
    find: 'export default _createPyodideModule;',
    replace: 'globalThis.__createModule=_createPyodideModule;',
    matches: 1,
  },
  // Only dynamic libraries bring code as text; there are none here.
  { name: 'code of libraries', find: '=eval(func)', replace: '=__noImport(func)', matches: 2 },
  {
    name: 'emscripten_run_script',
    find: 'eval(UTF8ToString(ptr))',
    replace: 'undefined',
    matches: 3,
  },
  {
    name: 'memory limit',
    find: 'var getHeapMax=()=>4294901760',
    replace: 'var getHeapMax=()=>__doors.heapMaxBytes',
    matches: 1,
  },
  {
    name: 'entropy',
    find: /if\(ENVIRONMENT_IS_SHELL\)\{return view=>\{if\(!os\.system\)/g,
    replace:
      'if(ENVIRONMENT_IS_SHELL){return view=>crypto.getRandomValues(view)}if(false){return view=>{if(!os.system)',
    matches: 1,
  },
  {
    name: 'timers of the C library',
    find: '_setitimer_js=(which,timeout_ms)=>{',
    replace: '_setitimer_js=(which,timeout_ms)=>{__doors.used=true;',
    matches: 1,
  },
  {
    name: 'guarded imports',
    find: 'function getWasmImports(){',
    replace: 'function getWasmImports(){__guard(wasmImports);',
    matches: 1,
  },
  // Else an entry named __proto__ is none that anybody finds.
  {
    name: 'folders without a prototype',
    find: 'node.stream_ops=MEMFS.ops_table.dir.stream;node.contents={}',
    replace: 'node.stream_ops=MEMFS.ops_table.dir.stream;node.contents={__proto__:null}',
    matches: 1,
  },
  { name: 'pipes', find: 'var PIPEFS={', replace: 'var PIPEFS=__doors.pipes={', matches: 1 },
  { name: 'terminals', find: 'var TTY={', replace: 'var TTY=__doors.terminals={', matches: 1 },
  // What one run leaves of a block of random bytes would be the next one's.
  {
    name: 'random devices',
    find: 'var randomBuffer=new Uint8Array(1024),',
    replace: 'var randomBuffer=new Uint8Array(1),',
    matches: 1,
  },
];

const loaderPatches: readonly Patch[] = [
  { name: 'dynamic imports', find: /\bimport\(/g, replace: '__noImport(', matches: 13 },
  {
    name: 'exports',
    find: /export\s*\{dt as loadPyodide,U as version\};/g,
    replace: 'globalThis.__loadPyodide=dt;',
    matches: 1,
  },
  { name: 'source map', find: /\/\/# sourceMappingURL.*/g, replace: '', matches: 1 },
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

function apply(text: string, patch: Patch): string {
  const seen = countOf(text, patch.find);
  if (seen !== patch.matches) throw mismatch(patch.name, seen, patch.matches);
  return text.replaceAll(patch.find, () => patch.replace);
}

/**
 * The Emscripten module as a script that defines `__createModule`. It shares one object, `__doors`, with
 * whoever runs it: `used` becomes true when Python left WebAssembly otherwise than for what is put back after a run,
 * `heapMaxBytes` bounds the memory, and `pipes` and `terminals` are Emscripten's.
 *
 * @throws Error when the text is not that of the pinned version.
 */
export function patchGlue(source: string): string {
  const patched = gluePatches.reduce(apply, source);
  const doors = countOf(patched, door);
  if (doors !== doorCount) throw mismatch('doors from Python to JavaScript', doors, doorCount);
  const flagged = patched.replaceAll(door, (head) => `${head}__doors.used=true;`);
  return `(__doors=>{"use strict";${importGuard}${flagged}})`;
}

/** pyodide's loader as a script that defines `__loadPyodide`. @throws Error as `patchGlue` does. */
export function patchLoader(source: string): string {
  return `(()=>{"use strict";${loaderPatches.reduce(apply, source)}})()`;
}
