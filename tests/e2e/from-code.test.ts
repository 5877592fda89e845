import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';
import { transformSync } from 'esbuild';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { codeBlocks, readDocument } from '../support/markdown.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

const folder = temporaryFolder();

test('the program of the page trains as it stands, here for two iterations', () => {
  const [block] = codeBlocks(readDocument('docs/guides/from-code.md'));
  const program = block?.text ?? '';
  const { code } = transformSync(program, { loader: 'ts', format: 'esm' });
  expect(program.split('\n').filter((line) => line !== '').length).toBeLessThanOrEqual(30);
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  symlinkSync(packageRoot(), join(modules, 'agent_rl'));
  symlinkSync(join(packageRoot(), 'node_modules', 'zod'), join(modules, 'zod'));
  const file = writeBelow(folder, 'train.mjs', code.replace('iterations: 12', 'iterations: 2'));
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(stderr).not.toMatch(/Warning/);
  expect(stdout).toMatch(/Note: The tool "search" comes from this program /);
  expect(stdout).toMatch(/total \(slices left out\) +0 of 10/);
  expect(status).toBe(0);
});
