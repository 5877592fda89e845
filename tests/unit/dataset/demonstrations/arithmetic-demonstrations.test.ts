import { describe, expect, test } from '@jest/globals';

import type { Message } from '#agent_rl/core/message.ts';
import { QuestionEnv } from '#agent_rl/environments/question/question-env.ts';
import { CalculatorTool } from '#agent_rl/tools/calculator/calculator-tool.ts';
import { trainedQuestion } from '#dataset/arithmetic_tasks/generator/rows.ts';
import { arithmeticDemonstrations } from '#dataset/demonstrations/arithmetic-demonstrations.ts';

const calculator = new CalculatorTool({ settings: {} });
const calculate = async (expression: string) => (await calculator.call({ expression })).content;

async function shown(count: number, by = calculate) {
  const found: (readonly Message[])[] = [];
  for await (const { messages } of arithmeticDemonstrations(4, count, by)) found.push(messages);
  return found;
}

const settings = {
  match: 'number' as const,
  maxAnswerWords: 40,
  successReward: 1,
  solvedAt: 1,
  noAnswerPenalty: 0,
  turnLimitPenalty: 0,
};

/** What the environment makes of a conversation's turns. */
async function judged(messages: readonly Message[], index: number) {
  const { text, answer } = trainedQuestion('warm-up', 4, index);
  const task = { taskId: 'one', prompt: text, answer, aliases: [], metadata: {} };
  const environment = new QuestionEnv({ task, settings });
  expect(await environment.start()).toEqual(messages.slice(0, 1));
  for (const [turn, message] of messages.entries()) {
    if (message.role !== 'assistant') continue;
    const [call] = message.toolCalls ?? [];
    const result = await calculator.call({ expression: String(call?.arguments['expression']) });
    const calls = call === undefined ? [] : [{ call, result, status: 'ok' as const, wallMs: 0 }];
    const { done } = await environment.step({ index: turn, message, calls });
    expect(done).toBe(call === undefined);
    // What was seen is what the tool says.
    expect(messages[turn + 1]?.content).toBe(calls[0]?.result.content);
  }
  return environment.finish('done');
}

describe('arithmeticDemonstrations', () => {
  test('makes conversations that the environment judges right, with the answers of the tool', async () => {
    const conversations = await shown(300);
    expect(conversations).toHaveLength(300);
    for (const [index, messages] of conversations.entries())
      expect(await judged(messages, index)).toMatchObject({ success: true, reward: 1 });
  });

  test('makes the same conversations for a seed, each with one call and a sentence', async () => {
    const [first] = await shown(1);
    expect(await shown(1)).toEqual([first]);
    expect(first!.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(first!.at(-1)!.content).toBe(`The answer is ${first![2]!.content}.`);
  });

  test('refuses a calculator that is wrong', async () => {
    await expect(shown(1, async () => '12')).rejects.toMatchObject({ code: 'DATASET_INVALID' });
  });
});
