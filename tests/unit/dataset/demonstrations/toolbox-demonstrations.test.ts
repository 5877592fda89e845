import { expect, test } from '@jest/globals';

import type { Message } from '#agent_rl/core/message.ts';
import { ToolboxEnv } from '#agent_rl/environments/toolbox/toolbox-env.ts';
import { conversationLine, readConversations } from '#dataset/demonstrations/conversations.ts';
import { toolboxDemonstrations } from '#dataset/demonstrations/toolbox-demonstrations.ts';
import { newOperations } from '#dataset/toolbox_tasks/generator/texts.ts';
import {
  trainedTask,
  type ToolboxTaskSettings,
  ToolboxTasks,
} from '#dataset/toolbox_tasks/toolbox-tasks.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();
const usual: ToolboxTaskSettings = {
  slices: ['new operations', 'more tools'],
  evalTasks: 40,
  tools: 'random',
  trainOn: 'trained',
  removedShare: 0.1,
  perturb: 'none',
};
const shown = [...toolboxDemonstrations(4, 200, usual)];

/** What the environment makes of a conversation's turns. */
async function judged(messages: readonly Message[], index: number) {
  const { question, answer, ...box } = trainedTask(usual, 'warm-up', 4, index);
  const task = { taskId: 'one', prompt: question, answer, aliases: [], metadata: { ...box } };
  const environment = new ToolboxEnv({ task });
  expect(await environment.start()).toEqual(messages.slice(0, 2));
  for (const [place, message] of messages.entries()) {
    if (message.role !== 'assistant') continue;
    const [call] = message.toolCalls ?? [];
    if (call === undefined) {
      await environment.step({ index: place, message, calls: [] });
      continue;
    }
    const result = await environment.call(call.arguments, { of: call.name });
    // What was seen is what the tool says.
    expect(messages[place + 1]?.content).toBe(result.content);
    const calls = [{ call, result, status: 'ok' as const, wallMs: 0 }];
    await environment.step({ index: place, message, calls });
  }
  return environment.finish('done');
}

test('every demonstration is judged right, with the right tools and arguments', async () => {
  for (const [index, { messages }] of shown.entries())
    expect(await judged(messages, index)).toMatchObject({
      success: true,
      metrics: { toolRight: 1, argumentsRight: 1 },
    });
});

test('demonstrations are of trained operations, and of no question that is trained or evaluated', () => {
  const kinds = new Set(shown.flatMap(({ kind }) => kind.split(', ')));
  expect(newOperations.filter((name) => kinds.has(name))).toEqual([]);
  const tasks = new ToolboxTasks({ settings: usual });
  const rows = Array.from({ length: 200 }, (_, index) => tasks.train(4, index));
  const asked = new Set([...rows, ...tasks.evaluation()].map(({ question }) => question));
  expect(shown.filter(({ messages }) => asked.has(messages[1]!.content))).toEqual([]);
});

test('demonstrations say "no tool" where the tool is missing, and follow the settings', () => {
  const settings = {
    ...usual,
    tools: 'fixed',
    trainOn: 'new operations',
    removedShare: 1,
  } as const;
  for (const { messages } of toolboxDemonstrations(4, 20, settings))
    expect(messages.slice(2)).toEqual([{ role: 'assistant', content: 'no tool' }]);
  const faces = [...toolboxDemonstrations(4, 60, { ...settings, removedShare: 0 })].flatMap(
    ({ tools }) => tools.map(({ name, description }) => `${name}: ${description}`),
  );
  expect(new Set(faces).size).toBe(14);
});

test('the line of a demonstration brings its tools', async () => {
  const some = shown.slice(0, 5);
  const file = writeBelow(
    folder,
    'train.jsonl',
    some.map((one) => `${conversationLine(one)}\n`).join(''),
  );
  const read = await readConversations(file);
  expect(read.map(({ tools }) => tools?.map(({ name }) => name))).toEqual(
    some.map(({ tools }) => tools.map(({ name }) => name)),
  );
  expect(read[0]!.messages.map(({ role }) => role)).toEqual(
    some[0]!.messages.map(({ role }) => role),
  );
});
