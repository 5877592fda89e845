import { expect, test } from '@jest/globals';

import { addUsage, type RunUsage, SessionUsage } from '#agent_rl/runs/run-usage.ts';

const spent = { steps: 1, sampledTokens: 2, fedTokens: 3, prefilledTokens: 4, runS: 5, totalS: 6 };
const twice = {
  steps: 2,
  sampledTokens: 4,
  fedTokens: 6,
  prefilledTokens: 8,
  runS: 10,
  totalS: 12,
};
const unused = { sharedTokens: 0, draftedTokens: 0, acceptedTokens: 0 };
const session = (more: Partial<RunUsage> = {}): RunUsage => ({
  sessions: 1,
  wallSeconds: 10,
  cpuSeconds: 15,
  evaluationCpuSeconds: 4,
  memory: { peakRssBytes: 500, scope: 'process-tree' },
  tokens: { read: 100, sampled: 20, trained: 60 },
  generation: { ...spent, ...unused },
  sandbox: { requests: 7, repeats: 1, incidents: 0 },
  ...more,
});

test('what sessions used adds up, and memory is the highest of them', () => {
  const later = session({ wallSeconds: 2.5, memory: { peakRssBytes: 400, scope: 'process-tree' } });
  expect(addUsage(session({ sessions: 2 }), later)).toEqual({
    sessions: 3,
    wallSeconds: 12.5,
    cpuSeconds: 30,
    evaluationCpuSeconds: 8,
    memory: { peakRssBytes: 500, scope: 'process-tree' },
    tokens: { read: 200, sampled: 40, trained: 120 },
    generation: { ...twice, ...unused },
    sandbox: { requests: 14, repeats: 2, incidents: 0 },
  });
});

test('the first session stands alone, and a sandbox counts if either had one', () => {
  expect(addUsage(undefined, session())).toEqual(session());
  const without = session({ sandbox: null });
  expect(addUsage(without, session()).sandbox).toEqual({ requests: 7, repeats: 1, incidents: 0 });
  expect(addUsage(without, without).sandbox).toBeNull();
});

test('a session counts what its evaluations use apart, those that fail too', async () => {
  const usage = await SessionUsage.start();
  const compute = () => {
    const until = process.cpuUsage().user + 100_000;
    while (process.cpuUsage().user < until);
  };
  compute();
  expect((await usage.soFar()).evaluationCpuSeconds).toBe(0);
  const evaluate = async () => {
    usage.on({ type: 'phase', name: 'evaluate', when: 'during', iteration: 1, episodes: 1 });
    // The first sample is taken meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 100));
    compute();
  };
  await evaluate();
  usage.on({ type: 'evaluation', when: 'during', iteration: 1, metrics: {}, evaluation: {} });
  // One that fails has no event of its own.
  await evaluate();
  const { cpuSeconds, evaluationCpuSeconds } = await usage.soFar();
  usage.close();
  expect(evaluationCpuSeconds).toBeGreaterThan(0.15);
  expect(cpuSeconds - (evaluationCpuSeconds ?? 0)).toBeGreaterThan(0.07);
});
