export * from './compare.ts';
export * from './judge.ts';
export * from './open-sandbox.ts';
export { PyodideSandbox } from './pyodide/pyodide-sandbox.ts';
export type { PyodideSandboxOptions } from './pyodide/pyodide-sandbox.ts';
export { userCacheFolder } from './pyodide/snapshot.ts';
