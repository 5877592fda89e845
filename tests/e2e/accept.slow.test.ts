import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { readLines } from '../support/acme-project.ts';
import { builtProgram, succeeded } from '../support/built-program.ts';
import { smallModelConfig, writeSmallModel } from '../support/small-model.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const run = (...args: string[]) => builtProgram('agent-rl', args, folder);

describe('agent-rl model accept of a random model', () => {
  let ended: ReturnType<typeof run>;

  beforeAll(async () => {
    await writeSmallModel(join(folder, 'tiny'), { ...smallModelConfig, maxPositions: 1024 });
    ended = run('model', 'accept', '--model', 'tiny', '--iterations', '4', '--engine-threads', '1');
  }, 240_000);

  test('accepts the model, since it trains as it should, and says that it did not learn', () => {
    const stdout = succeeded(ended);
    const report = readFileSync(join(folder, 'accept-tiny.md'), 'utf8');
    expect(stdout).toContain(report);
    expect(report).toMatch(
      /\*\*Accepted\*\*: all 6 criteria are met\. This run does not show that the model learned/,
    );
    expect(report).toContain('| held-out questions after | 0 of 100 = 0.0 %');
    expect(report.match(/^\| yes \| /gm)).toHaveLength(6);
    // A row of each iteration.
    expect(report.match(/^\| \d+ \| /gm)).toHaveLength(4);
  });

  test('keeps the run, which was stopped and resumed, and an exported model', () => {
    const lines = readLines(folder, 'accept-tiny', 'run', 'metrics.jsonl');
    expect(lines.map(({ iteration }) => iteration)).toEqual([1, 2, 3, 4]);
    expect(existsSync(join(folder, 'accept-tiny', 'exported', 'onnx', 'model.onnx'))).toBe(true);
  });

  test('never overwrites a file', () => {
    const again = run('model', 'accept', '--model', 'tiny', '--iterations', '4');
    expect(again.code).toBe(2);
    expect(again.stderr).toContain('--folder');
  });
});
