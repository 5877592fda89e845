import type { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import type { Message } from '../../agent_rl/core/message.ts';

import { append } from '../../agent_rl/core/long-lists.ts';
import { pythonRepr } from '../../agent_rl/core/python/python-value.ts';
import { type Value, printed } from '../code_tasks/generator/atom.ts';
import {
  type Mode,
  type TaskShape,
  evaluate,
  fill,
  writeProgram,
} from '../code_tasks/generator/program.ts';
import { quoted } from '../code_tasks/generator/prompt.ts';
import type { GeneratedTask } from '../code_tasks/generator/task.ts';
import { calledTurn } from './called-turn.ts';
import { drawSlips } from './slips.ts';

/**
 * What the `code_exec` tool shows after a run on the public example: what a program printed, or the `repr` of
 * what `f` returned. Must equal the tool's own text, or the warm-up teaches a format that never comes.
 */
const observation = (mode: Mode, value: Value): string =>
  mode === 'stdin' ? printed(value) : pythonRepr(value);

/** Chance of another attempt when the output is not the example's. */
const retryShare = 0.25;

const maxCalls = 3;

/** The steps of a task in a few words, always the right ones: the teacher slips in writing, not in planning. */
export function planOf({ family, parameters }: Pick<TaskShape, 'family' | 'parameters'>): string {
  const steps = family.steps.map(({ atom }, i) => fill(atom.plan, quoted(parameters[i])));
  return [family.source.plan, ...steps].filter((step) => step !== '').join(', ');
}

/** The assistant's and the tool's turns of one demonstration, and whether each program in them is right. */
export function demonstrate(
  task: GeneratedTask,
  rng: KeyedRng,
): { messages: Message[]; right: boolean[] } {
  const { args, expected } = task.cases.example;
  const wanted = observation(task.shape.mode, expected);
  const messages: Message[] = [];
  const right: boolean[] = [];
  for (let turn = 0; turn < maxCalls; turn++) {
    const choice = drawSlips(task.shape.family, rng.child('slips', turn));
    const content = observation(task.shape.mode, evaluate(task.shape, choice, args));
    const reasoning = turn === 0 ? planOf(task.shape) : 'the output is wrong, try again';
    const code = writeProgram(task.shape, choice);
    const call = { name: 'code_exec', arguments: { code } };
    append(messages, calledTurn(turn, { ...call, content, reasoning }));
    right.push(choice.every((way) => way === 0));
    if (content === wanted || rng.child('retry').at(turn) >= retryShare) break;
  }
  messages.push({ role: 'assistant', content: 'Done.' });
  return { messages, right };
}
