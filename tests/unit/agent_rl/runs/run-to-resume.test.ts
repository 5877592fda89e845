import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { loadConfig } from '#agent_rl/config/index.ts';
import { runToResume } from '#agent_rl/runs/resume-point.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();
const text = `environment: {type: a}\ndatasets: [{dir: x}]\nrun: {outputDir: ${join(folder, 'runs')}, seed: 3}\n`;
const file = writeBelow(folder, 'small.yaml', text);
const { config } = loadConfig({ file });
const found = (resume: string) => runToResume({ resume, config, file });

describe('the run to resume', () => {
  test('has to be there, and is not made', () => {
    const missing = join(folder, 'runs', 'missing');
    expect(() => found(missing)).toThrow(`${missing} is not a run folder`);
    expect(existsSync(missing)).toBe(false);
    expect(() => found('newest')).toThrow('There is no run "small-seed3" to resume');
  });

  test('is left as it is', () => {
    const run = join(folder, 'runs', 'small-seed3');
    writeBelow(run, 'inputs.json', '{}');
    const partial = writeBelow(run, 'x.1.partial', 'half');
    expect([found(run), found('newest')]).toEqual([run, run]);
    expect([existsSync(partial), existsSync(join(run, 'run.lock'))]).toEqual([true, false]);
  });
});
