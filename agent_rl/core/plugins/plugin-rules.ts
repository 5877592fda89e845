import { Ajv } from 'ajv';

import { showValue } from '../show-value.ts';
import { isRecord } from '../is-record.ts';
import { messageOf } from '../errors.ts';

/** The rule of a field of a plugin's spec. */
export interface FieldRule {
  /** For the message: what is allowed. */
  readonly allowed: string;
  readonly optional?: boolean;
  /** A further problem of a value of the right kind, or `undefined`. */
  readonly problem?: (value: unknown) => string | undefined;
  readonly fits: (value: unknown) => boolean;
}

/** The run that uses a plugin, as far as the rules of its kind see it. */
export interface PluginUse {
  /** Where the plugin is from. */
  readonly source: string;
  /** Weights of the rewards, the environment's own first. */
  readonly weights: readonly number[];
}

/** The rules for plugins of one kind. */
export interface PluginRules<Spec = unknown> {
  /** Fields of the spec by name, besides name, description and settings; others are refused. */
  readonly fields?: Readonly<Record<string, FieldRule>>;
  /** Methods that a class of this kind has. */
  readonly methods: readonly string[];
  /** Replaces `methods` for a kind whose methods depend on the spec. */
  methodsOf?(spec: Spec): readonly string[];
  /** Whether a plain function is also allowed. */
  readonly orFunction?: boolean;
  /** Whether only a plain function is allowed. */
  readonly onlyFunction?: boolean;
  /** Reasons why a run cannot use a plugin with this spec, as sentences; none by default. */
  problemsInRun?(spec: Spec, use: PluginUse): readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

const named = (pattern: RegExp, allowed: string): FieldRule => ({
  allowed,
  fits: (value) => typeof value === 'string' && pattern.test(value),
});

const objectSchema: FieldRule = {
  allowed: 'a JSON Schema of type object, such as Type.Object({ text: Type.String() })',
  fits: (value) => isRecord(value) && value['type'] === 'object',
  problem: schemaProblem,
};

/**
 * Rules for the fields of specs. Names of tools and their parameters become part of the prompt, so the rules are
 * strict.
 */
export const fieldRules = {
  toolName: named(/^[a-z][a-z0-9_]*$/, 'a name such as word_count that matches [a-z][a-z0-9_]*'),
  name: named(
    /^[A-Za-z][A-Za-z0-9_.-]*$/,
    'a name such as exact-sum that matches [A-Za-z][A-Za-z0-9_.-]*',
  ),
  text: {
    allowed: 'a non-empty string',
    fits: (value) => typeof value === 'string' && value.trim() !== '',
  },
  names: {
    allowed: 'a list of names',
    fits: (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
  },
  agents: {
    allowed: 'two or more distinct names such as guesser that match [a-z][a-z0-9_-]*',
    fits: (value) =>
      Array.isArray(value) &&
      value.length > 1 &&
      new Set(value).size === value.length &&
      value.every((item) => typeof item === 'string' && /^[a-z][a-z0-9_-]*$/.test(item)),
  },
  seconds: {
    // A timer of more than 24.8 days fires at once.
    allowed: 'a number of seconds above 0 and up to 86400',
    fits: (value) => typeof value === 'number' && value > 0 && value <= 86_400,
  },
  characters: {
    allowed: 'a whole number of characters above 0',
    fits: (value) => Number.isSafeInteger(value) && (value as number) > 0,
  },
  version: {
    allowed: 'a whole number above 0',
    fits: (value) => Number.isSafeInteger(value) && (value as number) > 0,
  },
  flag: { allowed: 'true or false', fits: (value) => typeof value === 'boolean' },
  flagOrMethod: {
    allowed: 'true, false or a function',
    fits: (value) => typeof value === 'boolean' || typeof value === 'function',
  },
  method: { allowed: 'a function', fits: (value) => typeof value === 'function' },
  fileUrl: {
    allowed: 'import.meta.url of the file that exports the class',
    fits: (value) => typeof value === 'string' && value.startsWith('file:'),
  },
  parameters: {
    ...objectSchema,
    problem: (value) => schemaProblem(value) ?? parameterNameProblem(value as Fields),
  },
} as const satisfies Readonly<Record<string, FieldRule>>;

/** One of some words. */
export const oneOf = (words: readonly string[]): FieldRule => ({
  allowed: words.map((word) => JSON.stringify(word)).join(', '),
  fits: (value) => words.includes(value as string),
});

/** The same, for an optional field. */
export const optionalField = (rule: FieldRule): FieldRule => ({ ...rule, optional: true });

const everySpec: Readonly<Record<string, FieldRule>> = {
  name: fieldRules.name,
  description: fieldRules.text,
  settings: optionalField(objectSchema),
};

const loose = {
  strict: false,
  logger: false,
  validateFormats: false,
  // Only to see whether it can be compiled.
  code: { optimize: false },
} as const;
// One for all schemas: each new one would compile JSON Schema's own schema again, 10 ms for each plugin.
let shapes: Ajv | undefined;

function schemaProblem(schema: unknown): string | undefined {
  try {
    // As JSON first: the prompt and `agent-rl plugins` must be able to show it.
    const plain = JSON.parse(JSON.stringify(schema)) as object;
    shapes ??= new Ajv(loose);
    void shapes.validateSchema(plain, true);
    new Ajv({ ...loose, meta: false, validateSchema: false }).compile(plain);
    return undefined;
  } catch (cause) {
    return `is not a usable JSON Schema: ${messageOf(cause)}`;
  }
}

function parameterNameProblem({ properties }: Fields): string | undefined {
  const wrong = Object.keys(isRecord(properties) ? properties : {}).find(
    (name) => !/^[A-Za-z0-9_$.-]+$/.test(name),
  );
  return wrong === undefined
    ? undefined
    : `has a parameter named ${JSON.stringify(wrong)}; allowed: letters, digits and _ $ . -`;
}

/** Everything that is wrong with a plugin and its spec, each as `field: value; allowed: what`. */
export function pluginProblems(
  plugin: unknown,
  spec: unknown,
  rules: PluginRules,
): readonly string[] {
  if (!isRecord(spec)) return [`spec: got ${showValue(spec)}; allowed: an object.`];
  const ruleOf = { ...everySpec, ...rules.fields };
  const fields = Object.entries(ruleOf).flatMap(([name, rule]) =>
    fieldProblems(name, Object.hasOwn(spec, name) ? spec[name] : undefined, rule),
  );
  const known = Object.keys(ruleOf);
  const unknown = Object.keys(spec)
    .filter((name) => !known.includes(name))
    .map((name) => `${name}: unknown field of the spec; allowed: ${known.join(', ')}.`);
  const methods = rules.methodsOf?.(spec) ?? rules.methods;
  return [...fields, ...unknown, ...methodProblems(plugin, { ...rules, methods })];
}

function fieldProblems(name: string, value: unknown, rule: FieldRule): readonly string[] {
  if (value === undefined && rule.optional === true) return [];
  if (!rule.fits(value)) return [`${name}: got ${showValue(value)}; allowed: ${rule.allowed}.`];
  const problem = rule.problem?.(value);
  return problem === undefined ? [] : [`${name}: ${problem}.`];
}

/** Whether a value is a class and no function. */
export const isClass = (value: unknown): boolean =>
  typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value));

function methodProblems(
  plugin: unknown,
  { methods, orFunction = false, onlyFunction = false }: PluginRules,
) {
  if (onlyFunction)
    return typeof plugin === 'function' && !isClass(plugin)
      ? []
      : [
          `the plugin: got ${isClass(plugin) ? 'a class' : showValue(plugin)}; allowed: a function.`,
        ];
  if (orFunction && typeof plugin === 'function' && !isClass(plugin)) return [];
  const prototype: unknown = typeof plugin === 'function' ? plugin.prototype : undefined;
  const missing = methods.filter(
    (name) => typeof (prototype as Fields | undefined)?.[name] !== 'function',
  );
  const { length } = plugin as { length?: number };
  const parameters =
    isClass(plugin) && (length ?? 0) > 1
      ? [
          `constructor: got ${length} parameters; allowed: one object, constructor({ task, settings, sandbox }).`,
        ]
      : [];
  const absent = missing.map(
    (name) =>
      `${name}: the class has no such method; allowed: a class with ${methods.map((method) => `${method}(…)`).join(', ')}${orFunction ? ', or a function' : ''}. Write a method: a function in a property does not count.`,
  );
  return [...absent, ...parameters];
}
