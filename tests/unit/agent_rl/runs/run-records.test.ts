import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { runFolderAt } from '#agent_rl/runs/run-folder.ts';
import { RunRecords } from '#agent_rl/runs/run-records.ts';
import { RunSettings } from '#agent_rl/runs/query/run-settings.ts';
import type { Log, ProcessTreeMemory } from '#agent_rl/telemetry/index.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();

test('a run that begins to repeat itself warns once, with the iteration', () => {
  const warned: string[] = [];
  const log = { warn: (text: string) => warned.push(text), info: () => undefined };
  const records = new RunRecords({
    folder: runFolderAt(join(folder, 'run')),
    log: log as unknown as Log,
    memory: { peak: { peakRssBytes: 1 } } as ProcessTreeMemory,
    iterations: 20,
    secondsLeft: () => undefined,
    logRollouts: false,
    watched: { settings: new RunSettings({}), tools: true, prompt: 'in the prompt' },
  });
  for (let iteration = 1; iteration <= 20; iteration++)
    records.onIteration(iteration, { 'rollout/repetition': iteration > 5 ? 0.4 : 0.02 }, []);
  records.close();
  expect(warned).toEqual([
    expect.stringMatching(/^Iteration 10: 40\.0 % of 4-grams come again in their turn/),
  ]);
});
