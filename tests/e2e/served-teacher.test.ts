import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { readLines } from '../support/acme-project.ts';
import { smokeTraining } from '../support/smoke-training.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { rejectionOf } from '../support/thrown.ts';
import { starter } from '../support/vllm/opened-vllm.ts';
import { VllmDouble } from '../support/vllm/vllm-double.ts';

const folder = temporaryFolder();

test('a teacher that only scores may be on a server that could not sample for the run', async () => {
  // Its log-probabilities are not of what it samples from: greedy evaluations would be refused on it.
  const server = await VllmDouble.start({ vocabSize: 1024, processed: false });
  const generator = { type: 'vllm', urls: [server.url], compareInEvaluation: false };
  const teacher = { model: { path: starter }, generator };
  const own = {
    'train.iterations': 1,
    policies: { teacher },
    'algorithm.name': 'distill',
    'algorithm.distill.teacher': 'teacher',
  };
  try {
    await smokeTraining(folder, { ...own, 'run.name': 'taught' });
    const [line] = readLines(join(folder, 'runs', 'taught'), 'metrics.jsonl');
    expect(line?.['sent/teacherKl']).toEqual(expect.any(Number));
    expect(line?.['ledger/distilled']).toBe(line?.['rollout/sampledTokens']);
    const warmer = { ...own, 'run.name': 'warmer', 'policy.sampling.temperature': 0.7 };
    const { message } = await rejectionOf(smokeTraining(folder, warmer));
    expect(message).toContain(
      'policies.teacher: generator "vllm" scores given tokens at temperature 1',
    );
  } finally {
    await server.close();
  }
});
