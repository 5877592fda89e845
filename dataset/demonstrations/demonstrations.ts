import { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import { type Message, user } from '../../agent_rl/core/message.ts';

import { trainFamilies } from '../code_tasks/generator/families.ts';
import { parametersOf } from '../code_tasks/generator/parameters.ts';
import type { Mode } from '../code_tasks/generator/program.ts';
import { type GeneratedTask, generateTask } from '../code_tasks/generator/task.ts';
import { demonstrate } from './demonstrate.ts';

/** A conversation the warm-up learns from. */
export interface Demonstration {
  /** The kind of the question or the family of the program. */
  kind: string;
  messages: readonly Message[];
  /** Whether the answer at the end is right, or the last program passes every hidden test. */
  correct: boolean;
}

export interface CodeDemonstration extends Demonstration {
  /** Whether each program passes every hidden test, in order. */
  programsRight: readonly boolean[];
}

/**
 * Fresh warm-up tasks with the unreliable teacher's work on them (see `code_tasks/CARD.md`). Only trained
 * families, and never their unseen parameter values. Item i depends on the seed and i alone.
 *
 * @yields One conversation after another, `count` in all.
 */
export function* codeDemonstrations(seed: number, count: number): Generator<CodeDemonstration> {
  for (let index = 0; index < count; index++) {
    const rng = new KeyedRng(seed, 'demonstration', index);
    const task = warmUpTask(rng.child('task'));
    const { messages, right } = demonstrate(task, rng.child('teacher'));
    yield {
      kind: task.shape.family.name,
      messages: [user(task.prompt), ...messages],
      correct: right.at(-1) === true,
      programsRight: right,
    };
  }
}

function warmUpTask(rng: KeyedRng): GeneratedTask {
  const family = rng.pick(trainFamilies);
  const parameters = rng.pick(parametersOf(family, 'trained'));
  const mode: Mode = rng.uniform() < 0.5 ? 'stdin' : 'calls';
  return generateTask({ family, parameters, mode }, rng);
}
