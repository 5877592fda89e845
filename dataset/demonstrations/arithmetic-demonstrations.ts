import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { user } from '../../agent_rl/core/message.ts';
import { trainedQuestion } from '../arithmetic_tasks/generator/rows.ts';
import { calledTurn } from './called-turn.ts';
import type { Demonstration } from './demonstrations.ts';

/** What the calculator answers to an expression. */
export type Calculate = (expression: string) => Promise<string>;

/**
 * Fresh questions of the trained lengths and phrasings, each with one call of the calculator and the answer that it gave.
 * Item i depends on the seed and i alone.
 *
 * @yields One conversation after another, `count` in all.
 * @throws AgentRlError `DATASET_INVALID` where the calculator does not give the answer
 */
export async function* arithmeticDemonstrations(
  seed: number,
  count: number,
  calculate: Calculate,
): AsyncGenerator<Demonstration> {
  for (let index = 0; index < count; index++) {
    const { operation, text, expression, answer } = trainedQuestion('warm-up', seed, index);
    const content = await calculate(expression);
    if (content !== answer) {
      throw new AgentRlError(
        'DATASET_INVALID',
        `The calculator returns ${content} for ${expression}, but the answer is ${answer}, so the task cannot be demonstrated.`,
      );
    }
    yield {
      kind: operation.name,
      messages: [
        user(text),
        ...calledTurn(0, { name: 'calculator', arguments: { expression }, content }),
        { role: 'assistant', content: `The answer is ${content}.` },
      ],
      correct: true,
    };
  }
}
