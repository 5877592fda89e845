import { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import { type Message, system, user } from '../../agent_rl/core/message.ts';

import { trainFamilies } from '../code_tasks/generator/families.ts';
import { parametersOf } from '../code_tasks/generator/parameters.ts';
import type { Mode } from '../code_tasks/generator/program.ts';
import { type GeneratedTask, generateTask } from '../code_tasks/generator/task.ts';
import { type TeacherHabits, defaultHabits, demonstrate } from './demonstrate.ts';

/** A conversation the warm-up learns from. */
export interface CodeDemonstration {
  taskId: string;
  family: string;
  messages: readonly Message[];
  /** Whether the last program passes every hidden test. */
  correct: boolean;
  /** The same of each program, in order. */
  programsRight: readonly boolean[];
}

export interface DemonstrationOptions extends Partial<TeacherHabits> {
  /** Said before the prompt; none by default. */
  system?: string;
}

/**
 * Fresh warm-up tasks with the unreliable teacher's work on them (see `code_tasks/CARD.md`). Only trained
 * families, and never their unseen parameter values. Item i depends on the seed and i alone.
 *
 * @yields One conversation after another, `count` in all.
 */
export function* codeDemonstrations(
  seed: number,
  count: number,
  options: DemonstrationOptions = {},
): Generator<CodeDemonstration> {
  const habits = { ...defaultHabits, ...options };
  for (let index = 0; index < count; index++) {
    const rng = new KeyedRng(seed, 'demonstration', index);
    const task = warmUpTask(rng.child('task'));
    const { messages, right } = demonstrate(task, rng.child('teacher'), habits);
    const opening = options.system === undefined ? [] : [system(options.system)];
    yield {
      taskId: `warm-up-${seed}-${index}`,
      family: task.shape.family.name,
      messages: [...opening, user(task.prompt), ...messages],
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

export interface DemonstrationStats {
  demonstrations: number;
  /** Share whose last program is right. */
  correct: number;
  /** Share of all programs that are right: what a faithful imitator writes at first. */
  programsRight: number;
  /** Share of first programs that are right, by family. */
  byFamily: Readonly<Record<string, number>>;
}

/** How often the teacher is right. */
export function demonstrationStats(
  demonstrations: Iterable<CodeDemonstration>,
): DemonstrationStats {
  const all = [...demonstrations];
  const programs = all.flatMap((one) => one.programsRight);
  const groups = new Map<string, boolean[]>();
  for (const { family, programsRight } of all) {
    groups.set(family, [...(groups.get(family) ?? []), programsRight[0] === true]);
  }
  return {
    demonstrations: all.length,
    correct: share(all.map((one) => one.correct)),
    programsRight: share(programs),
    byFamily: Object.fromEntries([...groups].map(([family, flags]) => [family, share(flags)])),
  };
}

const share = (flags: readonly boolean[]): number =>
  flags.length === 0 ? 0 : flags.filter(Boolean).length / flags.length;
