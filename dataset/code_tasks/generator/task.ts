import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';

import { drawCases } from './cases.ts';
import { type TaskShape, rightChoice, writeProgram } from './program.ts';
import { writePrompt } from './prompt.ts';

/** A task before it is written as a row. */
export type GeneratedTask = ReturnType<typeof generateTask>;

/** Makes one task of a given shape: its cases and the words it is asked in. */
export function generateTask(shape: TaskShape, rng: KeyedRng) {
  const cases = drawCases(shape, rng.child('cases'));
  return {
    shape,
    cases,
    prompt: writePrompt(shape, cases.example, rng.child('prompt')),
    referenceSolution: writeProgram(shape, rightChoice(shape.family)),
  };
}
