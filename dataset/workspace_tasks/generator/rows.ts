import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { type Form, formPairs, type Forms, trainedForms, unseenForms } from './form.ts';
import { drawQuestion, rowOf, type WorkspaceRow } from './task.ts';

/** Of the generator: another number where the same seed gives other tasks. */
const workspaceVersion = 1;

/** The ordered pairs of forms that training shows, and those it does not. The same for every seed. */
export const pairs = formPairs(new KeyedRng('workspace pairs', workspaceVersion));

/** Questions to train on, of two relations each: task i depends on the seed and i alone. */
export function trainRow(seed: number, index: number): WorkspaceRow {
  const rng = new KeyedRng(seed, 'workspace', workspaceVersion, 'train', index);
  const forms = rng.child('forms').pick(pairs.trained);
  return rowOf(drawQuestion(forms, 'train', rng.child('question')), {
    id: `workspace-${seed}-${index}`,
  });
}

interface Slice {
  /** Reported apart, and left out of the totals; the headline without. */
  name?: string;
  forms: (rng: KeyedRng) => Forms;
}

const several = (rng: KeyedRng, forms: readonly Form[], count: number): Forms =>
  Array.from({ length: count }, () => rng.pick(forms));

/** One relation of a form that training never showed, and one of any other. */
function withUnseen(rng: KeyedRng): Forms {
  const unseen = rng.pick(unseenForms);
  return rng.uniform() < 0.5 ? [unseen, rng.pick(trainedForms)] : [rng.pick(trainedForms), unseen];
}

const slices: readonly Slice[] = [
  { forms: (rng) => rng.pick(pairs.trained) },
  { name: 'unseen pairs', forms: (rng) => rng.pick(pairs.unseen) },
  { name: 'one relation', forms: (rng) => several(rng, trainedForms, 1) },
  { name: 'three relations', forms: (rng) => several(rng, trainedForms, 3) },
  { name: 'four relations', forms: (rng) => several(rng, trainedForms, 4) },
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
          ...(name !== undefined && { slice: name }),
        });
      }),
    );
}
