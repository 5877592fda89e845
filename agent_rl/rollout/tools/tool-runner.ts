import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { TSchema } from 'typebox';

import { runEndingError } from '../../core/errors.ts';
import { failureOf, WrongValue } from '../../core/failure.ts';
import { type Timed, withDeadline } from '../../core/stopping/abort.ts';
import { enterPlugin } from '../../core/plugins/entered-plugin.ts';
import { builtInSource } from '../../core/plugins/plugin.ts';
import type { ExecutedCall } from '../../core/plugins/environment.ts';
import { KeyedRng } from '../../core/keyed-rng.ts';
import { isRecord } from '../../core/is-record.ts';
import { showValue } from '../../core/show-value.ts';
import type { ToolCall } from '../../core/message.ts';
import { pluginFailure } from '../../core/plugins/plugin-failure.ts';
import type { Tool, ToolResult, ToolSettings, ToolSpec } from '../../core/plugins/tool.ts';
import { redactor } from '../../telemetry/redact.ts';
import type { ModuleHooks } from '../../threads/thread.ts';
import { IsolatedTool } from './isolated-tool.ts';

export interface CallOptions {
  /** The episode's own tools by name; isolated ones need none. */
  tools: ReadonlyMap<string, Tool>;
  /** Hidden inputs from the environment to the tool. */
  inputs: Readonly<Record<string, unknown>>;
  /** Names the call's stream of random numbers. */
  randomPath: readonly (string | number)[];
  /** Names the call, see `ToolContext`. */
  idempotencyKey: string;
  signal: AbortSignal;
}

const defaultDeadlineS = 10;
const defaultMaxContentChars = 4000;

interface Known {
  spec: ToolSpec;
  validate: ValidateFunction;
  isolated: IsolatedTool | undefined;
}

/**
 * How to handle a tool's own exception, not the machine's. `tell-model`: the call fails and the episode continues, so
 * that the policy cannot escape a bad episode with a call that breaks a tool. `fail-episode`: the episode has no
 * reward.
 */
export type ToolThrows = 'tell-model' | 'fail-episode';

/** How failures of tools are handled. */
export interface ToolMessages {
  /** For errors of a tool; `tell-model` by default. */
  throws?: ToolThrows;
  /** Where tools are from, by their names, for messages. */
  sources?: ReadonlyMap<string, string>;
}

/**
 * Checks and runs the calls of a policy. A mistake of the policy is answered, never thrown.
 *
 * One runner serves a whole run: it holds the compiled schemas and the threads of isolated tools. The tools themselves
 * belong to an episode and are passed with each call.
 */
export class ToolRunner {
  specs: readonly ToolSpec[];
  #known: ReadonlyMap<string, Known>;

  /**
   * @param hooks registered in the threads of isolated tools, for tools that are not plain JavaScript
   * @param settings of isolated tools, by the tool's name
   */
  constructor(
    specs: readonly ToolSpec[],
    hooks: readonly ModuleHooks[] = [],
    settings: ReadonlyMap<string, ToolSettings> = new Map(),
    private readonly told: ToolMessages = {},
  ) {
    const ajv = new Ajv({ allErrors: true, strict: false, code: { optimize: false } });
    this.specs = specs;
    this.#known = new Map(
      specs.map((spec) => {
        const validate = ajv.compile(spec.parameters);
        const isolated =
          spec.isolated === undefined
            ? undefined
            : new IsolatedTool(spec.name, spec.isolated, hooks, settings.get(spec.name));
        return [spec.name, { spec, validate, isolated }];
      }),
    );
  }

  /** A runner with more tools, which shares this one's threads and is not closed. @throws WrongValue for a name used twice */
  with(more: readonly ToolSpec[]): ToolRunner {
    const both = new ToolRunner(more, [], new Map(), this.told);
    both.specs = [...this.specs, ...more];
    both.#known = new Map([...this.#known, ...both.#known]);
    if (both.#known.size === both.specs.length) return both;
    throw new WrongValue('two tools of the episode have the same name.');
  }

  /** Starts the threads of isolated tools, which load their modules while a model is read and compiled. */
  startAhead(episodes: number): void {
    for (const { isolated } of this.#known.values()) isolated?.startAhead(episodes);
  }

  /** Whether calls of a tool may be made again after an interruption. A call of an unknown tool does nothing. */
  repeats(name: string): boolean {
    const known = this.#known.get(name);
    if (known === undefined) return true;
    const isOurs = this.told.sources?.get(name) === builtInSource;
    return (known.spec.onInterrupt ?? (isOurs ? 'repeat' : 'fail')) === 'repeat';
  }

  /** Why a call is rejected without being run, in the words that the model reads; undefined for one that can run. */
  problemOf(call: ToolCall): string | undefined {
    const found = this.#find(call);
    return typeof found === 'string' ? found : undefined;
  }

  /**
   * Runs one call, or says why it cannot be run.
   *
   * @throws PluginError for an error of the tool that may be temporary, ends the run, or fails the episode; the
   * signal's reason when it is aborted.
   */
  async run(call: ToolCall, options: CallOptions): Promise<ExecutedCall> {
    const known = this.#find(call);
    if (typeof known === 'string') return rejected(call, known);
    const { spec } = known;
    const seconds = spec.deadlineS ?? defaultDeadlineS;
    const started = performance.now();
    const wallMs = () => performance.now() - started;
    try {
      const { timed, problem } = await this.#call(known, call, options);
      const why = problem === undefined ? {} : { problem };
      if (timed === 'timeout') {
        const content = `Error: ${spec.name} was stopped after ${seconds} s without an answer.`;
        const result = { content, isError: true };
        return { call, status: 'timeout', result, wallMs: wallMs(), ...why };
      }
      const result = checkResult(spec, timed.value);
      const status = result.isError === true ? 'error' : 'ok';
      const { problem: own } = result;
      const said = own === undefined ? {} : { problem: redactor()(own) };
      return { call, status, result, wallMs: wallMs(), ...said };
    } catch (thrown) {
      options.signal.throwIfAborted();
      const source = this.told.sources?.get(spec.name);
      const failure = pluginFailure(`Tool "${spec.name}"`, thrown, { source });
      if (this.#failsEpisode(failure)) throw failure;
      // The error may quote hidden inputs.
      const result = { content: `Error: ${spec.name} failed on this call.`, isError: true };
      const problem = redactor()(failure.message);
      return { call, status: 'error', result, wallMs: wallMs(), problem };
    }
  }

  #failsEpisode(failure: Error): boolean {
    const { owner } = failureOf(failure);
    return (
      this.told.throws === 'fail-episode' ||
      owner !== 'plugin' ||
      runEndingError(failure) !== undefined
    );
  }

  /** Ends the threads of isolated tools. */
  async close(): Promise<void> {
    for (const { isolated } of this.#known.values()) await isolated?.close();
  }

  async #call(
    { spec, isolated }: Known,
    call: ToolCall,
    options: CallOptions,
  ): Promise<{ timed: Timed<ToolResult>; problem?: string }> {
    const { inputs, randomPath, idempotencyKey, signal } = options;
    const seconds = spec.deadlineS ?? defaultDeadlineS;
    if (isolated !== undefined) {
      const sent = { args: call.arguments, inputs, randomPath, idempotencyKey };
      return { timed: await isolated.call(sent, { seconds, signal }) };
    }
    const tool = options.tools.get(spec.name);
    if (tool === undefined) throw new Error('the episode was created without this tool');
    const random = new KeyedRng(...randomPath);
    let blockedS = 0;
    const answer = async (until: AbortSignal): Promise<ToolResult> => {
      enterPlugin(`tool "${spec.name}"`);
      const began = performance.now();
      // The arguments were just checked against the schema the tool's type comes from.
      const context = { signal: until, inputs, random, idempotencyKey };
      const answering = tool.call(call.arguments, context);
      blockedS = (performance.now() - began) / 1000;
      return answering;
    };
    const timed = await withDeadline(answer, { seconds, signal });
    if (blockedS <= seconds) return { timed };
    // Everything else in the process was blocked, including the tool's deadline.
    const problem = `Tool "${spec.name}" blocked the whole run for ${blockedS.toFixed(1)} s, although its deadline is ${seconds} s. Set isolated: import.meta.url in the spec of the tool. Its calls then run in a thread that can be terminated.`;
    return { timed: 'timeout', problem };
  }

  /** The tool that a call names, or why the call cannot be run. */
  #find({ name, arguments: args }: ToolCall): Known | string {
    const known = this.#known.get(name);
    if (known === undefined) {
      const names = [...this.#known.keys()].join(', ') || 'none';
      return `Error: there is no tool named ${JSON.stringify(name)}. Tools: ${names}.`;
    }
    const { spec, validate } = known;
    return validate(args) ? known : invalidArguments(spec, validate.errors ?? []);
  }
}

function rejected(call: ToolCall, content: string): ExecutedCall {
  return { call, status: 'rejected', result: { content, isError: true }, wallMs: 0 };
}

function invalidArguments(spec: ToolSpec, errors: readonly ErrorObject[]): string {
  const problems = errors.map(({ instancePath, message, params }) => {
    const extra = 'additionalProperty' in params ? ` (${params['additionalProperty']})` : '';
    return `${instancePath.slice(1).replaceAll('/', '.') || 'arguments'} ${message}${extra}`;
  });
  return `Error: invalid arguments for ${spec.name}: ${problems.join('; ')}. Arguments: ${describeArguments(spec.parameters)}.`;
}

function checkResult(spec: ToolSpec, result: ToolResult): ToolResult {
  if (typeof result?.content !== 'string') {
    const got = isRecord(result) ? `content ${showValue(result['content'])}` : showValue(result);
    throw new WrongValue(`it must answer with { content: string }; got ${got}.`);
  }
  // Before it is cut, which could leave half a secret, and before the model sees it: tokens can be read back.
  const clean = redactor()(result.content);
  const content = cutContent(clean, spec.maxContentChars ?? defaultMaxContentChars);
  return content === result.content ? result : { ...result, content };
}

/** Text of at most `maxChars` characters and, when some was left out, a line that says so. */
function cutContent(content: string, maxChars: number): string {
  if (content.length <= maxChars) return content;
  // Half a surrogate pair is not a character: leave it out.
  const splitsPair = /[\uD800-\uDBFF]/.test(content.charAt(maxChars - 1));
  const shown = content.slice(0, splitsPair ? maxChars - 1 : maxChars);
  return `${shown}\n[cut: ${count(shown.length)} of ${count(content.length)} characters shown]`;
}

const count = (value: number): string => value.toLocaleString('en-US');

interface ObjectSchema {
  properties?: Readonly<Record<string, { type?: string; enum?: readonly unknown[] }>>;
  required?: readonly string[];
}

/** A tool's arguments in one line for the model: `code (string), timeout (number, optional)`. */
function describeArguments(parameters: TSchema): string {
  // A TypeBox object is a JSON Schema object; other schemas have no properties and give an empty list.
  const { properties = {}, required = [] } = parameters as ObjectSchema;
  const described = Object.entries(properties).map(([name, { type, enum: values }]) => {
    const kind =
      values === undefined
        ? (type ?? 'any')
        : values.map((value) => JSON.stringify(value)).join(' | ');
    return `${name} (${kind}${required.includes(name) ? '' : ', optional'})`;
  });
  return described.join(', ') || 'none';
}
