import { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import { trainedChain } from '../workspace_tasks/generator/rows.ts';
import { drawQuestion } from '../workspace_tasks/generator/task.ts';
import { demonstrate, type RunProgram, type Slip } from '../workspace_tasks/teacher/demonstrate.ts';
import type { Demonstration } from './demonstrations.ts';

/** What the teacher of the warm-up shows. The rest are questions of one step, answered rightly. */
export interface WorkspaceTeaching {
  /** Share of questions of two steps. */
  two: number;
  /** Share of those that it answers rightly. */
  right: number;
}

export const defaultTeaching: WorkspaceTeaching = { two: 0.5, right: 0.3 };

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
  for (let first = 0; first < count; first += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, count - first) }, (_, at) =>
      demonstrationAt(new KeyedRng(seed, 'workspace demonstration', first + at), run, teaching),
    );
    yield* await Promise.all(some);
  }
}

async function demonstrationAt(
  rng: KeyedRng,
  run: RunProgram,
  { two, right }: WorkspaceTeaching,
): Promise<Demonstration> {
  const depth = rng.child('depth').uniform() < two ? 2 : 1;
  const slips = depth > 1 && rng.child('right').uniform() >= right;
  const slip: Slip | undefined = slips ? rng.child('slip').pick(['stop', 'skip']) : undefined;
  for (let draw = 0; ; draw++) {
    const drawn = rng.child('draw', draw);
    const forms = trainedChain(depth, drawn.child('forms'));
    const question = drawQuestion(forms, 'warmUp', drawn.child('question'));
    const work = await demonstrate(question, {
      run,
      rng: drawn.child('teacher'),
      ...(slip !== undefined && { slip }),
    });
    if (work === undefined) continue;
    return { kind: rowKind(depth, slip), ...work };
  }
}

const rowKind = (depth: number, slip: Slip | undefined): string =>
  slip === undefined ? `depth ${depth}` : `depth ${depth}, ${slip}`;
