import { unreachable } from '../../../agent_rl/core/unreachable.ts';

/** What holds a relation in the workspace. */
export const holders = ['dict', 'function', 'pairs', 'text', 'object'] as const;
export type Holder = (typeof holders)[number];

/** How the names that a relation is asked by are written. */
export const keyStyles = ['same', 'lower', 'upper'] as const;
export type KeyStyle = (typeof keyStyles)[number];

/** How a relation is stored. The prompt says neither. */
export interface Form {
  holder: Holder;
  keys: KeyStyle;
}

export const formName = ({ holder, keys }: Form): string =>
  keys === 'same' ? holder : `${holder}-${keys}`;

const isUnseen = ({ holder, keys }: Form): boolean =>
  keys === (holders.indexOf(holder) % 2 === 0 ? 'upper' : 'lower');

const forms = holders.flatMap((holder) => keyStyles.map((keys): Form => ({ holder, keys })));

/** Shown in training: each holder with names as they are and with one of the other styles, each style with several holders. */
export const trainedForms: readonly Form[] = forms.filter((form) => !isUnseen(form));

/** Never shown in training: their holders and their styles are, each with another. */
export const unseenForms: readonly Form[] = forms.filter(isUnseen);

/** A name as a relation has it. */
function keyOf(name: string, keys: KeyStyle): string {
  switch (keys) {
    case 'same':
      return name;
    case 'lower':
      return name.toLowerCase();
    case 'upper':
      return name.toUpperCase();
    default:
      return unreachable(keys);
  }
}

/** Python that defines a relation. Names are plain letters, so that JSON's texts are Python's. */
export function definition(
  relation: string,
  { holder, keys }: Form,
  values: ReadonlyMap<string, string>,
): string {
  const entries = [...values].map(([key, value]): [string, string] => [keyOf(key, keys), value]);
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
  const key = keys === 'same' ? `'${name}'` : `'${name}'.${keys}()`;
  switch (holder) {
    case 'dict':
      return `${relation}[${key}]`;
    case 'function':
      return `${relation}(${key})`;
    case 'pairs':
      return `dict(${relation})[${key}]`;
    case 'text':
      return `json.loads(${relation})[${key}]`;
    case 'object':
      return `getattr(${relation}, ${key})`;
    default:
      return unreachable(holder);
  }
}
