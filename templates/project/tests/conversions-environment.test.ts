import { expect, test } from '@jest/globals';
import type { Turn } from 'agent_rl/plugin';
import { describeEnvironmentContract } from 'agent_rl/contracts';

import { ConversionsEnvironment } from '../plugins/conversions-environment.ts';

const task = {
  taskId: 'one',
  prompt: 'Convert 12 inches to cm.',
  metadata: { answer: '30.48' },
};

const create = () => new ConversionsEnvironment({ task, settings: { successReward: 1 } });

const call = {
  id: 'call_0_0',
  name: 'convert',
  arguments: { value: 12, from: 'inches', to: 'cm' },
};

const asks: Turn = {
  index: 0,
  message: { role: 'assistant', content: '', toolCalls: [call] },
  calls: [{ call, result: { content: '30.48' }, status: 'ok', wallMs: 0 }],
};

const says = (content: string): Turn => ({
  index: 1,
  message: { role: 'assistant', content },
  calls: [],
});

// What every environment promises: a message to start with, a verdict however the episode ends, nothing shared.
describeEnvironmentContract('conversions', {
  plugin: ConversionsEnvironment,
  create,
  winningTurns: [asks, says('It is 30.48.')],
});

test.each([
  ['It is 30.48.', true],
  ['30.48', true],
  ['It is 30.', false],
  ['It is 30.48 or 4.724.', false],
  ['I do not know.', false],
])('the environment judges the number in the final message: %s', async (content, success) => {
  const environment = create();
  await environment.start();
  expect(await environment.step(asks)).toEqual({ done: false });
  expect(await environment.step(says(content))).toEqual({ done: true });
  expect(await environment.finish('done')).toMatchObject({
    success,
    reward: success ? 1 : 0,
    metrics: { calls: 1 },
  });
});
