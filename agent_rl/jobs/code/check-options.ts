import { configInvalid, nearestName, type Problem } from '../../config/index.ts';
import { kindNames, kindOf } from '../../compose/plugins/kinds.ts';
import { isRecord } from '../../core/is-record.ts';
import { showValue } from '../../core/show-value.ts';

/** What a value given by a program must be. */
interface Expected {
  is: (value: unknown) => boolean;
  /** What is allowed, after `expected`. */
  allowed: string;
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isFunction = (value: unknown): boolean => typeof value === 'function';
const isRows = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (Symbol.iterator in value || Symbol.asyncIterator in value);
const block: Expected = { is: isRecord, allowed: 'a block of settings such as { key: value }' };
const list: Expected = { is: Array.isArray, allowed: 'a list' };
const onePlugin = (kind: string): Expected => ({
  is: (v) => isText(v) || isFunction(v) || isRecord(v),
  allowed: `a ${kind} plugin, its name, or a block of settings`,
});
const flag: Expected = { is: (value) => typeof value === 'boolean', allowed: 'true or false' };
const rows: Expected = {
  is: (v) => isText(v) || isRows(v),
  allowed: 'a list or (async) iterable of rows, or the path of a file of rows',
};

/** Of every kind of plugin that has a block of its own. */
const pluginParts = Object.fromEntries(
  kindNames
    .map((name) => kindOf(name))
    .filter(({ at }) => /^\w+(\.\*)?$/.test(at))
    .map(({ at, kind }): [string, Expected] =>
      at.endsWith('.*') ? [at.slice(0, -2), list] : [at, onePlugin(kind.kind)],
    ),
);

const parts = {
  ...pluginParts,
  model: { is: (v) => isText(v) || isRecord(v), allowed: 'a model folder or a block of settings' },
  tools: {
    is: (v) => Array.isArray(v) || isRecord(v),
    allowed: 'a list such as [defineTool({ … })], or an object of AI SDK tools',
  },
  environment: onePlugin('environment'),
  agents: list,
  policies: block,
  agent: { is: isFunction, allowed: 'a function that runs the agent and returns its answer' },
  isModelError: { is: isFunction, allowed: 'a function that takes the error that the agent threw' },
  reward: {
    is: isFunction,
    allowed: 'a function that takes the finished episode; put names and blocks into rewards',
  },
  plugins: list,
  algorithm: { is: isRecord, allowed: "a block of settings such as { name: 'dr-grpo' }" },
  rollout: block,
  train: block,
  eval: block,
  checkpoint: block,
  dataset: block,
  sandbox: block,
  run: block,
} satisfies Record<string, Expected>;

const common = {
  signal: { is: (v) => v instanceof AbortSignal, allowed: 'an AbortSignal' },
  print: { is: isFunction, allowed: 'a function such as console.log' },
} satisfies Record<string, Expected>;

const controls = {
  ...common,
  overrides: { is: isRecord, allowed: "settings by dotted path, { 'run.seed': 2 }" },
  resume: { is: isText, allowed: "a run folder, or 'newest'" },
  allowOtherMachine: flag,
  dryRun: flag,
  measure: flag,
  quiet: flag,
} satisfies Record<string, Expected>;

const policyName = { is: isText, allowed: 'the name of a policy under policies' };
const config: Expected = { is: isText, allowed: 'the path of a run file' };

/** Refuses what a training cannot be made of. @throws AgentRlError `CONFIG_INVALID` */
export function checkTrainingOptions(options: unknown): void {
  const given = recordOf('trainAgent', options);
  if (given['config'] !== undefined) {
    const known = { ...controls, config, plugins: list };
    check('trainAgent', given, { known, ofFile: { ...parts, tasks: rows, evalTasks: rows } });
    return;
  }
  const known = { ...controls, ...parts, tasks: rows, evalTasks: rows, config };
  check('trainAgent', given, { known, needed: 'tasks' });
}

/** Refuses what an evaluation cannot be made of. @throws AgentRlError `CONFIG_INVALID` */
export const checkEvaluationOptions = (options: unknown): void =>
  check('evaluateAgent', recordOf('evaluateAgent', options), {
    known: { ...common, ...parts, tasks: rows, policyName },
  });

/** Refuses what an agent cannot be opened with. @throws AgentRlError `CONFIG_INVALID` */
export const checkLoadOptions = (options: unknown): void =>
  check('loadAgent', recordOf('loadAgent', options), {
    known: { ...common, ...parts, policyName },
  });

interface Allowed {
  known: Readonly<Record<string, Expected>>;
  /** What a run file says in its own words. */
  ofFile?: Readonly<Record<string, Expected>>;
  needed?: string;
}

function recordOf(caller: string, options: unknown): Record<string, unknown> {
  if (isRecord(options)) return options;
  const text = `expected an object, got ${showValue(options, 60)}.`;
  throw configInvalid([{ location: { source: caller }, path: '', text }]);
}

function check(caller: string, given: Record<string, unknown>, allowed: Allowed): void {
  const problems: Problem[] = [];
  const add = (path: string, text: string) =>
    problems.push({ location: { source: caller }, path, text });
  const { known, ofFile = {}, needed } = allowed;
  if (needed !== undefined && given[needed] === undefined)
    add(needed, `is missing. Give ${known[needed]!.allowed}, or config: a run file.`);
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const expected = known[key];
    if (expected === undefined) add(key, unknown(key, allowed, Object.hasOwn(ofFile, key)));
    else if (!expected.is(value))
      add(key, `expected ${expected.allowed}, got ${showValue(value, 60)}.`);
  }
  const { agent, isModelError } = given;
  for (const [key, why] of Object.entries(agent === undefined ? {} : ofAgent))
    if (given[key] !== undefined)
      add(key, `cannot be combined with agent, ${why}. Remove one of the two.`);
  const lonely = 'needs agent, whose errors it classifies. Give agent, or remove isModelError.';
  if (agent === undefined && isModelError !== undefined) add('isModelError', lonely);
  for (const [index, tool] of [given['tools']].flat().entries())
    if (Array.isArray(given['tools']) && isRecord(tool) && 'execute' in tool)
      add(`tools.${index}`, 'is a plain object, not a tool. Wrap it: defineTool({ … }).');
  if (problems.length > 0) throw configInvalid(problems);
}

/** Why parts have no place beside an agent with a loop of its own. */
const ofAgent = {
  tools: 'which calls its own tools and would ignore the tools given here',
  environment: 'which serves as the environment itself',
  agents: 'which is a single agent; the option agents is for environments with several agents',
};

function unknown(key: string, { known }: Allowed, ofFile: boolean): string {
  if (ofFile)
    return 'has no effect beside config. Write it into the run file, or remove config; for single settings, use overrides.';
  const near = nearestName(key, Object.keys(known));
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
  return `is not a known key.${hint} Allowed: ${Object.keys(known).join(', ')}.`;
}
