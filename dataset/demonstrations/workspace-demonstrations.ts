import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import type { QuestionTask } from '../../agent_rl/core/tasks/question-task.ts';
import { questionOf, trainedChain } from '../workspace_tasks/generator/rows.ts';
import { drawQuestion, rowOf, type WorkspaceQuestion } from '../workspace_tasks/generator/task.ts';
import type { StepForm } from '../workspace_tasks/generator/step.ts';
import { demonstrate, type RunProgram, type Slip } from '../workspace_tasks/teacher/demonstrate.ts';
import type { Demonstration } from './demonstrations.ts';

/** What the teacher of the warm-up shows. The rest are questions of one step, answered rightly. */
export interface WorkspaceTeaching {
  /** Share of questions of two steps, and of three. */
  two: number;
  three: number;
  /** Share of those that it answers rightly: where a relation comes first and a total last, and elsewhere. */
  right: { known: number; others: number };
  /** Share of the others in which it leaves a relation out, where there is one to leave out, and does not stop on the way. */
  skip: number;
}

const defaultTeaching: WorkspaceTeaching = {
  two: 0.35,
  three: 0.25,
  right: { known: 0.5, others: 0.31 },
  skip: 0.15,
};

/** @param reliable a teacher that makes no mistakes */
export const teachingOf = (reliable: boolean): WorkspaceTeaching =>
  reliable ? { ...defaultTeaching, right: { known: 1, others: 1 } } : defaultTeaching;

/** Most attempts of the teacher at a task that it must show. */
const mostAttempts = 8;

/** Conversations worked out at a time: programs of several run side by side. */
const atOnce = 16;

/**
 * Fresh questions about fresh worlds with the unreliable teacher's work on them, which really runs its programs. No name and
 * no pair of steps is that of a training or evaluation task it does not share. Item i depends on the seed and i alone.
 *
 * @yields One conversation after another, `count` in all.
 */
export async function* workspaceDemonstrations(
  seed: number,
  count: number,
  run: RunProgram,
  teaching: WorkspaceTeaching = defaultTeaching,
): AsyncGenerator<Demonstration> {
  yield* sideBySide(count, (index) =>
    warmUpDemonstration(new KeyedRng(seed, 'workspace demonstration', index), run, teaching),
  );
}

/**
 * The teacher's work on training tasks, without slips. Item i depends on the seed, i and task i alone, so that a task that
 * comes up again is gone about in another way.
 *
 * @yields One conversation for each task, in their order.
 * @throws AgentRlError `DATASET_INVALID` for a task that this version of the generator does not give for its id
 */
export async function* rightDemonstrations(
  seed: number,
  tasks: readonly QuestionTask[],
  run: RunProgram,
): AsyncGenerator<Demonstration> {
  yield* sideBySide(tasks.length, (index) =>
    rightDemonstration(tasks[index]!, {
      run,
      rng: new KeyedRng(seed, 'workspace right demonstration', index),
    }),
  );
}

async function* sideBySide(
  count: number,
  demonstrationAt: (index: number) => Promise<Demonstration>,
): AsyncGenerator<Demonstration> {
  for (let first = 0; first < count; first += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, count - first) }, (_, at) =>
      demonstrationAt(first + at),
    );
    yield* await Promise.all(some);
  }
}

async function rightDemonstration(
  task: QuestionTask,
  { run, rng }: { run: RunProgram; rng: KeyedRng },
): Promise<Demonstration> {
  const question = knownQuestion(task);
  const kind = rowKind(question.world.chain.length, undefined);
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const work = await demonstrate(question, { run, rng: rng.child('teacher', attempt) });
    if (work?.correct === true) return { kind, ...work };
  }
  throw new AgentRlError(
    'DATASET_INVALID',
    `The teacher did not solve task ${JSON.stringify(task.taskId)} in ${mostAttempts} attempts.`,
  );
}

/** The question that a task's id stands for, with its world: the task has but the Python that makes it. */
function knownQuestion({ taskId, prompt, answer, metadata }: QuestionTask): WorkspaceQuestion {
  const question = questionOf(taskId);
  const asked = question && rowOf(question, { id: taskId }).question;
  if (
    question &&
    asked === prompt &&
    question.answer === answer &&
    question.setup === metadata['setup']
  )
    return question;
  throw new AgentRlError(
    'DATASET_INVALID',
    `Task ${JSON.stringify(taskId)} differs from the task that this version of the generator makes for its id${question ? '' : ' (expected workspace-SEED-INDEX)'}, so the teacher cannot demonstrate it. Generate the tasks again with make-workspace.`,
  );
}

async function warmUpDemonstration(
  rng: KeyedRng,
  run: RunProgram,
  { two, three, right, skip }: WorkspaceTeaching,
): Promise<Demonstration> {
  const share = rng.child('depth').uniform();
  const depth = share < three ? 3 : share < three + two ? 2 : 1;
  for (let draw = 0; ; draw++) {
    const drawn = rng.child('draw', draw);
    const forms = trainedChain(depth, drawn.child('forms'));
    const slips = depth > 1 && drawn.child('right').uniform() >= rightShare(forms, right);
    const slip: Slip | undefined = !slips
      ? undefined
      : drawn.child('slip').uniform() < skip
        ? 'skip'
        : 'stop';
    const question = drawQuestion(forms, 'warmUp', drawn.child('question'));
    const work = await demonstrate(question, { run, rng: drawn.child('teacher'), slip });
    if (work === undefined) continue;
    return { kind: rowKind(depth, slip), ...work };
  }
}

const rightShare = (
  forms: readonly StepForm[],
  { known, others }: WorkspaceTeaching['right'],
): number => {
  const isKnown = forms[0]?.kind === 'relation' && forms.at(-1)?.kind === 'total';
  return isKnown ? known : others;
};

const rowKind = (depth: number, slip: Slip | undefined): string =>
  slip === undefined ? `depth ${depth}` : `depth ${depth}, ${slip}`;
