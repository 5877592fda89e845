import { expect, test } from '@jest/globals';

import { iterationAdvice } from '#agent_rl/runs/iteration-advice.ts';

const textOf = (...args: Parameters<typeof iterationAdvice>): string =>
  iterationAdvice(...args)
    .map(({ text }) => text)
    .join('\n');

test('advice names sandbox settings only in a run with a sandbox', () => {
  const slow = { 'busy/collect': 0.9, 'seconds/tools': 5, 'seconds/generation': 1 } as const;
  expect(textOf(slow, { sandbox: true })).toContain('sandbox.workers');
  expect(textOf(slow, { sandbox: false })).toMatch(
    /Raise rollout\.workers, or lower the deadlines/,
  );
  expect(textOf(slow, { sandbox: false })).not.toContain('sandbox.');
});

test('advice does not ask for resampling that is already on', () => {
  const equal = { 'group/count': 4, 'group/zeroVariance': 4 } as const;
  expect(textOf(equal)).toContain('set algorithm.selection.type: dynamic');
  expect(textOf(equal, { resamples: true })).not.toContain('algorithm.selection');
});

test('advice to call tools is given only in a run with tools, and names the system prompt only where it can be set', () => {
  const silent = { 'rollout/toolCallRate': 0.1 } as const;
  expect(textOf(silent)).toContain('(environment.systemPrompt)');
  expect(textOf(silent, { systemPrompt: false })).toMatch(/that the tool must be used\.$/);
  expect(textOf(silent, { tools: false })).toBe('');
});
