import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { unreachable } from '../../../agent_rl/core/unreachable.ts';

/** What holds a relation in the workspace. */
export const holders = ['dict', 'function', 'pairs', 'text', 'object'] as const;
export type Holder = (typeof holders)[number];

/** How a relation is stored: what holds it, and how the names it is asked by are written. The prompt says neither. */
export interface Form {
  holder: Holder;
  keys: 'same' | 'lower';
}

export const formName = ({ holder, keys }: Form): string =>
  keys === 'same' ? holder : `${holder}-${keys}`;

/** Shown in training. */
export const trainedForms: readonly Form[] = [
  ...holders.map((holder): Form => ({ holder, keys: 'same' })),
  { holder: 'dict', keys: 'lower' },
  { holder: 'function', keys: 'lower' },
];

/** Never shown in training: both their holders and their keys are, each with another. */
export const unseenForms: readonly Form[] = [
  { holder: 'pairs', keys: 'lower' },
  { holder: 'text', keys: 'lower' },
  { holder: 'object', keys: 'lower' },
];

/** Forms of one relation after another, first asked first. */
export type Forms = readonly Form[];

/** How pairs, the unit that results are clustered by, are called. */
export const formsName = (forms: Forms): string => forms.map(formName).join('+');

/**
 * The ordered pairs of trained forms: one in five, in which every form is first and second as often as any other to within
 * one, is never shown in training.
 */
export function formPairs(rng: KeyedRng): { trained: readonly Forms[]; unseen: readonly Forms[] } {
  const order = rng.shuffle(trainedForms);
  const count = order.length;
  const all = order.flatMap((first, row) =>
    order.map((second, column) => ({
      forms: [first, second],
      diagonal: (column - row + count) % count,
    })),
  );
  // One diagonal holds every form once in each place; of a second, as many as are left.
  const unseen = new Set([
    ...all.filter(({ diagonal }) => diagonal === 1),
    ...all
      .filter(({ diagonal }) => diagonal === 3)
      .slice(0, Math.round((count * count) / 5) - count),
  ]);
  return {
    trained: all.filter((pair) => !unseen.has(pair)).map(({ forms }) => forms),
    unseen: [...unseen].map(({ forms }) => forms),
  };
}

/** Python that defines a relation. Names are plain letters, so that JSON's texts are Python's. */
export function definition(
  relation: string,
  { holder, keys }: Form,
  values: ReadonlyMap<string, string>,
): string {
  const entries = [...values].map(([key, value]): [string, string] => [
    keys === 'lower' ? key.toLowerCase() : key,
    value,
  ]);
  const dict = JSON.stringify(Object.fromEntries(entries));
  switch (holder) {
    case 'dict':
      return `${relation} = ${dict}`;
    case 'function':
      return `def ${relation}(name, _values=${dict}):\n    return _values[name]`;
    case 'pairs':
      return `${relation} = [${entries.map(([key, value]) => `("${key}", "${value}")`).join(', ')}]`;
    case 'text':
      return `${relation} = '${dict}'`;
    case 'object':
      return `${relation} = types.SimpleNamespace(**${dict})`;
    default:
      return unreachable(holder);
  }
}

/** Python that looks a name up in a relation, as one who takes it to have a form would write it. */
export function access(relation: string, { holder, keys }: Form, name: string): string {
  const key = keys === 'lower' ? name.toLowerCase() : name;
  switch (holder) {
    case 'dict':
      return `${relation}['${key}']`;
    case 'function':
      return `${relation}('${key}')`;
    case 'pairs':
      return `dict(${relation})['${key}']`;
    case 'text':
      return `json.loads(${relation})['${key}']`;
    case 'object':
      return `${relation}.${key}`;
    default:
      return unreachable(holder);
  }
}
