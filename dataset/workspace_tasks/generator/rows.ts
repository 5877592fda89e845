import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { isUnseenPair, type StepForm, type StepForms, trainedSteps, unseenSteps } from './step.ts';
import { drawQuestion, rowOf, type WorkspaceQuestion, type WorkspaceRow } from './task.ts';

/** Version of the generator, raised when the same seed gives other tasks. */
export const workspaceVersion = 4;

/** How many of the questions to train on have three steps; the others have two. */
const threeStepShare = 0.4;

/** How often a question begins or ends with a table. */
const tableShare = 0.35;

/** Forms for a question of some steps: the first may be the largest of a table, the last a total, the others are relations. */
function drawForms(
  depth: number,
  rng: KeyedRng,
  formsAt: (at: number) => StepForms = () => trainedSteps,
): StepForm[] {
  const kinds = Array.from({ length: depth }, (): StepForm['kind'] => 'relation');
  const ends = rng.uniform();
  if (depth === 1 && ends < 2 * tableShare) kinds[0] = ends < tableShare ? 'largest' : 'total';
  if (depth > 1 && ends < tableShare) kinds[0] = 'largest';
  if (depth > 1 && rng.uniform() < tableShare) kinds[depth - 1] = 'total';
  return kinds.map((kind, at) => rng.pick(formsAt(at)[kind]));
}

const hasUnseenPair = (forms: readonly StepForm[]): boolean =>
  forms.some((form, at) => at > 0 && isUnseenPair(forms[at - 1]!, form));

/** A chain of trained forms, each following another as in training. */
export function trainedChain(depth: number, rng: KeyedRng): StepForm[] {
  for (;;) {
    const forms = drawForms(depth, rng);
    if (!hasUnseenPair(forms)) return forms;
  }
}

/** Two steps of trained forms that follow one another nowhere in training. */
function unseenPair(rng: KeyedRng): StepForm[] {
  for (;;) {
    const forms = drawForms(2, rng);
    if (hasUnseenPair(forms)) return forms;
  }
}

/** Two steps, of which one has a form that training never showed. */
function withUnseen(rng: KeyedRng): StepForm[] {
  const place = rng.integer(2);
  return drawForms(2, rng, (at) => (at === place ? unseenSteps : trainedSteps));
}

/** Questions to train on, of two or three steps: task i depends on the seed and i alone. */
export const trainRow = (seed: number, index: number): WorkspaceRow =>
  rowOf(trainQuestion(seed, index), { id: `workspace-${seed}-${index}` });

function trainQuestion(seed: number, index: number): WorkspaceQuestion {
  const rng = new KeyedRng(seed, 'workspace', workspaceVersion, 'train', index);
  const depth = rng.child('depth').uniform() < threeStepShare ? 3 : 2;
  const forms = trainedChain(depth, rng.child('forms'));
  return drawQuestion(forms, 'train', rng.child('question'));
}

/** The question of a training task with its world, by the task's id; `undefined` for ids that `trainRow` does not give. */
export function questionOf(taskId: string): WorkspaceQuestion | undefined {
  const [, seed, index] = /^workspace-(\d+)-(\d+)$/.exec(taskId) ?? [];
  return seed === undefined ? undefined : trainQuestion(Number(seed), Number(index));
}

interface Slice {
  /** Reported apart, and left out of the totals; the headline without. */
  name?: string;
  forms: (rng: KeyedRng) => StepForm[];
}

const slices: readonly Slice[] = [
  { forms: (rng) => trainedChain(2, rng) },
  { name: 'unseen pairs', forms: unseenPair },
  { name: 'one step', forms: (rng) => trainedChain(1, rng) },
  { name: 'three steps', forms: (rng) => trainedChain(3, rng) },
  { name: 'four steps', forms: (rng) => trainedChain(4, rng) },
  { name: 'unseen forms', forms: withUnseen },
];

/** The names of the slices of the evaluation, the headline as `undefined`. */
export const sliceNames = slices.map(({ name }) => name);

/** The fixed questions of the evaluation, `count` of each slice asked for. */
export function evalRows(count: number, names = sliceNames): WorkspaceRow[] {
  return slices
    .filter(({ name }) => names.includes(name))
    .flatMap(({ name, forms }) =>
      Array.from({ length: count }, (_, index) => {
        const rng = new KeyedRng('workspace', workspaceVersion, 'eval', name ?? '', index);
        const question = drawQuestion(forms(rng.child('forms')), 'eval', rng.child('question'));
        return rowOf(question, {
          id: `eval-${(name ?? 'trained pairs').replaceAll(' ', '-')}-${index}`,
          slice: name,
        });
      }),
    );
}
