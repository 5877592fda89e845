import type { Static, TSchema } from 'typebox';

import type { KeyedRng } from '../keyed-rng.ts';
import { type Class, type Needed, needsRule } from './given.ts';
import { PluginKind } from './plugin.ts';
import { fieldRules, oneOf, optionalField } from './plugin-rules.ts';

/** A JSON Schema object, as TypeBox builds it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** What a tool receives with a call, besides the model's arguments. */
export interface ToolContext {
  /** Aborted when the call's deadline passes or the rollout is cancelled. */
  readonly signal: AbortSignal;
  /** Inputs from the environment that the model can neither see nor set, such as a public input or documents. */
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Randomness keyed by run, task, sample, turn and call. */
  readonly random: KeyedRng;
  /** The same whenever this call is repeated, also by a resumed run; no other call has it. */
  readonly idempotencyKey: string;
  /** Of a tool set: which of its tools is called, by the name that `find` gave as `of`. */
  readonly of?: string;
}

/**
 * The result of a call. A call that the tool cannot perform returns `isError`. A thrown error is the tool's own
 * failure: the model only sees that the call failed, the log has the reason (`rollout.failures.toolThrows`). A
 * `TransientError` is retried, and then fails the episode.
 */
export interface ToolResult {
  /** What the model reads. */
  readonly content: string;
  /** The call was valid but failed; the model may try again. */
  readonly isError?: boolean;
  /** For the environment, never shown to the model. */
  readonly data?: unknown;
  /** A problem of the tool itself, for the log; such episodes count as failed, and too many end the run. */
  readonly problem?: string;
}

/** Answers calls of the policy. */
export interface Tool<Parameters extends TSchema = TSchema> {
  call(args: Static<Parameters>, context: ToolContext): Promise<ToolResult>;
  /** Releases the tool's resources of the episode. Called once, when the episode is over. */
  close?(): Promise<void>;
}

export const onInterrupts = ['repeat', 'fail'] as const;

export type OnInterrupt = (typeof onInterrupts)[number];

/** What a tool is marked with. */
export interface ToolSpec<Parameters extends TSchema = TSchema> {
  /** The name the model calls, `[a-z][a-z0-9_]*`. */
  readonly name: string;
  /** One sentence for the model: what the tool does and when to use it. */
  readonly description: string;
  /**
   * A JSON Schema of type object, checked before `call` runs. The model sees what its chat template renders: the
   * starter model's template only shows parameter names, others the whole schema.
   */
  readonly parameters: Parameters;
  /** Schema of the tool's own settings in YAML; none means it takes no settings. */
  readonly settings?: TSchema;
  /** Services that are opened for its class. */
  readonly needs?: readonly Needed[];
  /** Time limit of a call in seconds; the model sees when it is exceeded. Default 10. */
  readonly deadlineS?: number;
  /** Maximum length of `content` in characters; the rest is visibly cut. Default 4,000. */
  readonly maxContentChars?: number;
  /**
   * What a resumed run does with a call that had begun when the run was killed. `repeat`: it is made again, with the same
   * `idempotencyKey`. `fail`, the default of tools that do not come with the package: the episode has no reward.
   */
  readonly onInterrupt?: OnInterrupt;
  /**
   * Whether later calls of an episode depend on earlier ones, and no record brings that back: an episode that was interrupted
   * then begins anew.
   */
  readonly keepsState?: boolean;
  /**
   * `import.meta.url` of the file that exports the class: each call then runs in a worker thread that is terminated at
   * the deadline. Only this ends a tool that loops synchronously. The constructor of such a tool only receives `{
   * settings }`, and settings, arguments, inputs and result are structured-cloned.
   */
  readonly isolated?: string;
  /**
   * Checks what a schema cannot, and returns the parts of this spec that follow from the settings: a tool described in
   * YAML has its name and its parameters there.
   *
   * @throws Error for settings that cannot be used; its message is shown with its place in the file.
   */
  readonly configure?: (settings: ToolSettings) => Partial<ToolFace>;
  /**
   * Makes this a set of tools: finds them when a run is resolved, always in the same order. The model calls each by its own
   * name, or by `NAME_` and its own name where the run has another tool of that name. An episode has one instance of the
   * class for all of them, whose calls say which is meant (`ToolContext.of`).
   *
   * @throws Error for a set that cannot be used; its message is shown with its place in the file.
   */
  readonly find?: (settings: ToolSettings, host: ToolHost) => Promise<readonly FoundTool[]>;
  /**
   * Opens what all instances of a run share, such as connections, an index or a rate limit. Instances receive it as
   * `shared`. Closed at the end of the run.
   */
  readonly open?: (settings: ToolSettings, host: ToolHost) => Promise<ToolShared>;
}

/** A tool's block of YAML, checked against its schema, defaults filled in. */
export type ToolSettings = Readonly<Record<string, unknown>>;

/** The parts of a tool that the model sees, and its limits. */
export type ToolFace = Pick<
  ToolSpec,
  'name' | 'description' | 'parameters' | 'deadlineS' | 'maxContentChars'
>;

/** A tool that a set found. */
export type FoundTool = ToolFace &
  Pick<ToolSpec, 'onInterrupt' | 'keepsState'> & {
    /** What the set itself calls it. */
    readonly of: string;
  };

/** What a tool may use while it is opened. */
export interface ToolHost {
  /** Where secrets come from, by name. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Tells the user something, as a sentence. */
  readonly warn?: (text: string) => void;
}

/** Counts and shares, by name. */
export type PluginReport = Readonly<Record<string, number>>;

/** What all instances of a tool share in a run. */
export interface ToolShared {
  /** A report on the session so far, for the summary. */
  report?(): PluginReport;
  /**
   * Merges the reports of a resumed run's earlier sessions with this session's. By default numbers are added, which is
   * right for counts and wrong for shares.
   */
  joinReports?(earlier: PluginReport, session: PluginReport): PluginReport;
  close(): Promise<void>;
}

export const tools = new PluginKind<ToolSpec, Tool>('tool', {
  methods: ['call'],
  fields: {
    name: fieldRules.toolName,
    parameters: fieldRules.parameters,
    deadlineS: optionalField(fieldRules.seconds),
    maxContentChars: optionalField(fieldRules.characters),
    onInterrupt: optionalField(oneOf(onInterrupts)),
    keepsState: optionalField(fieldRules.flag),
    isolated: optionalField(fieldRules.fileUrl),
    configure: optionalField(fieldRules.method),
    find: optionalField(fieldRules.method),
    open: optionalField(fieldRules.method),
    needs: needsRule('sandbox'),
  },
});

/** Marks a class as a tool plugin. */
export const tool = <Parameters extends TSchema>(spec: ToolSpec<Parameters>) =>
  // The kind stores specs of any schema; the call keeps class and schema together.
  tools.mark<Class<Tool<Parameters>>>(spec);
