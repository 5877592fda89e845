import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { rolesOf } from '../../../agent_rl/core/tasks/toolbox.ts';
import { filled, newOperations, textsOf, trainedOperations } from './texts.ts';
import { drawNames } from './words.ts';

export const perturbations = ['none', 'removed', 'lying', 'renamed', 'plain', 'wordy'] as const;

/** How the tools of tasks are drawn. */
export interface Drawing {
  /** Of names and of descriptions. */
  names: 'trained' | 'new';
  /** How arguments are arranged: side by side, so with one that is not needed, in an object, or in a list. */
  shapes: readonly ('flat' | 'optional' | 'nested' | 'list')[];
  /** `fixed`: an operation has the same tool in all tasks, unless names are new. */
  tools: 'random' | 'fixed';
  /** The tool that gives the answer is left out or returns another value; or all have other names, plain ones, or say more. */
  perturb: (typeof perturbations)[number];
}

const all = trainedOperations.concat(newOperations);

const number = { type: 'integer', minimum: -9_999_999, maximum: 9_999_999 };
const date = { type: 'string', pattern: String.raw`^\d{4}-(0\d|1[0-2])-[0-3]\d$` };
const text = { type: 'string', minLength: 1 };
const schemas = new Map<string, object>([
  ...['a', 'b', 'value', 'days', 'amount'].map((role) => [role, number] as const),
  ...['start', 'date'].map((role) => [role, date] as const),
]);

const object = (properties: object, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const wordy =
  ' Each call is checked before it is made, and a call that does not fit is refused with a message that says why. Results are given as text, as they are known at that moment.';

/** A tool, the nouns of its description, and the arguments of a call with given values. */
export function drawTool(operation: string, { names, shapes, ...how }: Drawing, rng: KeyedRng) {
  const isFixed = how.tools === 'fixed' && names === 'trained';
  const own = isFixed ? new KeyedRng('toolbox', 'fixed') : rng;
  const naming = (how.perturb === 'renamed' ? rng.child('renamed') : own).child('names');
  // All at once, so that no two are the same.
  const drawn = drawNames(names, all.length, naming)[all.indexOf(operation)]!;
  const [outer = '', spare = '', ...drawnArgs] = drawNames(names, 5, naming.child(operation));
  const face = own.child('face', operation);
  const shape = rng.child('shape', operation).pick(shapes);
  const roles = face.child('order').shuffle(rolesOf(operation));
  const [noun = '', other = ''] = drawNames(names, 2, face.child('words'));
  const [name, args] = how.perturb === 'plain' ? [operation, roles] : [drawn, drawnArgs];
  const byRole = <Value>(of: (at: number) => Value) =>
    Object.fromEntries(roles.map((role, at) => [role, of(at)]));
  const byName = (of: (role: string) => unknown) =>
    Object.fromEntries(roles.map((role, at) => [args[at]!, of(role)]));
  const fields = byName((role) => schemas.get(role) ?? text);
  const { length } = roles;
  const items = { type: 'array', items: Object.values(fields), minItems: length, maxItems: length };
  const parameters = {
    flat: object(fields),
    optional: object({ [spare]: text, ...fields }, Object.keys(fields)),
    nested: object({ [outer]: object(fields) }),
    list: object({ [outer]: items }),
  }[shape];
  const isInside = shape === 'nested' || shape === 'list';
  const paths = byRole((at) =>
    (isInside ? [outer] : []).concat(shape === 'list' ? String(at) : args[at]!),
  );
  const shown = byRole((at) =>
    shape === 'list' ? `item ${at + 1} of ${outer}` : paths[roles[at]!]!.join('.'),
  );
  const { says } = textsOf(operation);
  const said = names === 'new' ? says[2]! : face.child('says').pick(says.slice(0, 2));
  const more = how.perturb === 'wordy' ? wordy : '';
  const description = filled(said, { ...shown, noun, other }) + more;
  const argumentsOf = (values: Readonly<Record<string, unknown>>): Record<string, unknown> => {
    const given = byName((role) => values[role]);
    return isInside ? { [outer]: shape === 'list' ? Object.values(given) : given } : given;
  };
  const tool = { name, description, parameters, operation, paths };
  return { tool, words: { noun, other }, argumentsOf };
}
