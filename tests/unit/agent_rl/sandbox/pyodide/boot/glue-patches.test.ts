import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

import { expect, test } from '@jest/globals';

import { findDistribution } from '#agent_rl/sandbox/pyodide/boot/distribution.ts';
import { patchGlue, patchLoader } from '#agent_rl/sandbox/pyodide/boot/glue-patches.ts';
import { lineReader } from '#agent_rl/sandbox/pyodide/protocol.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const other = temporaryFolder();
const { folder } = findDistribution();
const glue = readFileSync(join(folder, 'pyodide.asm.mjs'), 'utf8');
const loader = readFileSync(join(folder, 'pyodide.mjs'), 'utf8');

test('Patched glue imports nothing and evaluates no text that a program gives', () => {
  const patched = patchGlue(glue);
  expect(patched).not.toMatch(/\bimport\(|import\.meta|eval\(func\)|eval\(UTF8ToString/);
  expect(patched.split('__doors.used=true;')).toHaveLength(1 + 57 + 2);
  expect(patchLoader(loader)).not.toMatch(/\bimport\(|\bexport\s*\{/);
});

test('Glue that does not match the patches exactly is refused by the patch that does not match', () => {
  for (const [changed, problem] of [
    [`${glue}import('x')`, '"dynamic imports" matched 16 times, expected 15'],
    [glue.replace('getHeapMax=()=>4294901760', 'x'), '"memory limit" matched 0 times'],
    [
      glue.replace('function raw_call_js(', 'function other('),
      'ways for Python code to reach JavaScript',
    ],
  ] as const)
    expect(() => patchGlue(changed)).toThrow(problem);
  expect(() => patchLoader(`${loader}import('x')`)).toThrow('"dynamic imports" matched 14 times');
});

test('An interrupt is not lost while patched glue checks for one', async () => {
  const body = /function _Py_CheckEmscriptenSignals_Helper\(\)\{.*?return 0\}\}/;
  const [helper] = body.exec(patchGlue(glue))!;
  const shared = new SharedArrayBuffer(8);
  const [interrupt, seen] = [new Uint8Array(shared, 0, 1), new Int32Array(shared, 4, 1)];
  const program = `
    const { workerData } = require('node:worker_threads');
    const Module = { Py_EmscriptenSignalBuffer: new Uint8Array(workerData, 0, 1) };
    const seen = new Int32Array(workerData, 4, 1);
    ${helper}
    for (;;) if (_Py_CheckEmscriptenSignals_Helper() === 2) Atomics.add(seen, 0, 1);
  `;
  const thread = new Worker(program, { eval: true, workerData: shared });
  const sent = 300;
  const waitMs = 10_000;
  try {
    await once(thread, 'online');
    for (let count = 1; count <= sent; count++) {
      const since = performance.now();
      Atomics.store(interrupt, 0, 2);
      while (Atomics.load(seen, 0) < count && performance.now() - since < waitMs);
      expect(seen[0]).toBe(count);
    }
  } finally {
    await thread.terminate();
  }
});

test('Another version of pyodide is refused by name', () => {
  writeBelow(other, 'package.json', '{"version": "0.29.0"}');
  const refused = /pyodide 0\.29\.0 is installed .* only with 314\.0\.7/;
  expect(() => findDistribution(other)).toThrow(refused);
});

test('Lines are joined from any pieces, and only a line feed ends one', () => {
  const lines: string[] = [];
  const read = lineReader((line) => lines.push(line));
  for (const piece of ['a', 'b\nc\u2028', 'd\r', '\n\n', 'rest']) read(piece);
  expect(lines).toEqual(['ab', 'c\u2028d\r', '']);
});
