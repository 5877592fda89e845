import type { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import type { AssistantMessage, Message, ToolMessage } from '../../agent_rl/core/message.ts';

import { PythonRaises } from '../code_tasks/generator/atom.ts';
import {
  type Choice,
  type TaskShape,
  evaluate,
  fill,
  writeProgram,
} from '../code_tasks/generator/program.ts';
import { quoted } from '../code_tasks/generator/prompt.ts';
import type { GeneratedTask } from '../code_tasks/generator/task.ts';
import { observation } from './observation.ts';
import { drawSlips } from './slips.ts';

/** How the teacher behaves besides its slips. */
export interface TeacherHabits {
  /** Chance of another attempt when the output is not the example's. */
  retryShare: number;
  /** Most calls of the tool. */
  maxCalls: number;
}

export const defaultHabits: TeacherHabits = { retryShare: 0.25, maxCalls: 3 };

export interface Attempts {
  messages: readonly Message[];
  /** Whether each program written is right, in order. */
  right: readonly boolean[];
}

/** The steps of a task in a few words, always the right ones: the teacher slips in writing, not in planning. */
function planOf({ family, parameters }: TaskShape): string {
  const steps = family.steps.map(({ atom }, i) => fill(atom.plan, quoted(parameters[i])));
  return [family.source.plan, ...steps].filter((step) => step !== '').join(', ');
}

/** The assistant's and the tool's turns of one demonstration. */
export function demonstrate(task: GeneratedTask, rng: KeyedRng, habits = defaultHabits): Attempts {
  const { mode } = task.shape;
  const wanted = observation(mode, task.cases.example.expected);
  const messages: Message[] = [];
  const right: boolean[] = [];
  for (let turn = 0; turn < habits.maxCalls; turn++) {
    const choice = drawSlips(task.shape.family, rng.child('slips', turn));
    const seen = observe(task, choice);
    const reasoning = turn === 0 ? planOf(task.shape) : 'the output is wrong, try again';
    messages.push(callOf(writeProgram(task.shape, choice), reasoning, turn), resultOf(seen, turn));
    right.push(choice.every((variant) => variant === 0));
    if (seen === wanted || rng.child('retry').at(turn) >= habits.retryShare) break;
  }
  messages.push({ role: 'assistant', content: 'Done.' });
  return { messages, right };
}

function observe({ shape, cases }: GeneratedTask, choice: Choice): string {
  try {
    return observation(shape.mode, evaluate(shape, choice, cases.example.args));
  } catch (error) {
    if (!(error instanceof PythonRaises)) throw error;
    throw new RangeError(`The public example of ${shape.family.name} makes a slip raise.`, {
      cause: error,
    });
  }
}

const callId = (turn: number): string => `call_${turn}_0`;

const callOf = (code: string, reasoning: string, turn: number): AssistantMessage => ({
  role: 'assistant',
  content: '',
  reasoning,
  toolCalls: [{ id: callId(turn), name: 'code_exec', arguments: { code } }],
});

const resultOf = (content: string, turn: number): ToolMessage => ({
  role: 'tool',
  name: 'code_exec',
  callId: callId(turn),
  content,
});
