import { spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const built = pathToFileURL(
  join(packageRoot(), 'dist/agent_rl/compose/plugins/watch-import.js'),
).href;

/** A program that imports a module with this text under guard. */
async function importing(text: string): Promise<{ status: number | string; stderr: string }> {
  const module = pathToFileURL(writeBelow(folder, 'module.mjs', text)).href;
  const program = `
    const { watchImport } = await import('${built}');
    const module = await watchImport(() => import('${module}'), { what: 'Plugin x', seconds: 0.1 });
    process.stderr.write('value ' + module.value);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program]);
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const status = await new Promise<number | string>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'nothing'));
  });
  return { status, stderr };
}

describe('A guarded import', () => {
  test('returns the module and lets the process end', async () => {
    expect(await importing('export const value = 7;')).toEqual({ status: 0, stderr: 'value 7' });
  });

  test('is named when it ends the process, which fails', async () => {
    expect(await importing('process.exit(0);')).toEqual({
      status: 2,
      stderr: 'PLUGIN_LOAD_FAILED: Plugin x ended the process during its import.\n',
    });
  });

  test('is named and killed when it blocks its thread forever', async () => {
    const { status, stderr } = await importing('while (true);');
    expect(status).toBe('SIGKILL');
    expect(stderr).toContain('Plugin x blocked the process for more than 0.1 s');
  });
});
