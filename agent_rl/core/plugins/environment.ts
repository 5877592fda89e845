import type { TSchema } from 'typebox';

import type { AssistantMessage, Message, ToolCall, UserMessage } from '../message.ts';
import type { Outcome } from '../outcome.ts';
import type { AgentContext } from './agent.ts';
import { type Class, type Needed, needsRule } from './given.ts';
import { PluginKind } from './plugin.ts';
import { fieldRules, oneOf, optionalField } from './plugin-rules.ts';
import type { Task } from '../tasks/task.ts';
import type {
  FoundTool,
  ToolHost,
  ToolResult,
  ToolSettings,
  ToolShared,
  ToolSpec,
} from './tool.ts';

/** One call of the policy's turn and what came of it. */
export interface ExecutedCall {
  readonly call: ToolCall;
  readonly result: ToolResult;
  /** `rejected`: unknown tool or invalid arguments; the tool never ran. */
  readonly status: 'ok' | 'error' | 'rejected' | 'timeout';
  readonly wallMs: number;
  /** A problem of the tool itself, for the log; the model sees `result`. */
  readonly problem?: string;
}

/** One turn of the policy, after its calls were run. */
export interface Turn {
  /** 0 for the first. */
  readonly index: number;
  readonly message: AssistantMessage;
  /** In the order the policy wrote them. */
  readonly calls: readonly ExecutedCall[];
}

/** An environment's answer to a turn. The rollout, not the environment, shows tool results to the policy. */
export interface EnvironmentStep {
  readonly done: boolean;
  /** Shown to the policy after the tool results, if the episode continues. */
  readonly messages?: readonly UserMessage[];
}

/** Why the episode ended. */
export type EpisodeEnd =
  | 'done'
  | 'turn-limit'
  | 'token-limit'
  | 'invalid-calls'
  /** An external agent threw because of the model's output. */
  | 'agent-error'
  | 'aborted';

/** How an episode is judged. */
export interface Verdict {
  readonly outcome: Outcome;
  /** Absent when the system failed. */
  readonly reward: number | undefined;
  /** Why the reward is absent, for the log: the error's own message. */
  readonly problem?: string | undefined;
  /** The terms whose sum is the reward, by name. */
  readonly components: Readonly<Record<string, number>>;
  /** Counts and rates for the log, not part of the reward. */
  readonly metrics?: Readonly<Record<string, number>> | undefined;
  /** Fields that the environment adds to the record of the episode. */
  readonly record?: Readonly<Record<string, unknown>> | undefined;
  /** The episode broke a rule and may earn nothing: positive rewards count as 0, costs stay. */
  readonly forfeited?: boolean | undefined;
  /** Whether the task was solved; drives the success rate. */
  readonly success: boolean;
  /**
   * The policy's answer in a canonical form, so that equal answers have equal text; absent without an answer. Attempts
   * vote by it, see `answers` of the spec.
   */
  readonly answer?: string | undefined;
  /** One for each turn that `step` received: how much of the reward it earned. The last turn earned the rest. */
  readonly turnRewards?: readonly number[] | undefined;
  /**
   * One for each of these turns: a name of the state in which it was made, and of the state after them, if known, for a
   * turn that was cut off. Equal states of a task have equal names in all of its episodes.
   */
  readonly turnStates?: readonly string[] | undefined;
  /** Lets the rewards decide whether the task was solved: it was if their weighted sum reaches this. */
  readonly solvedAt?: number | undefined;
}

/**
 * One episode of one task. Single-use: made for a task, run once, thrown away. There is no `reset`, so no state can
 * leak from one rollout into the next.
 *
 * An environment sees messages and tool results, never tokens. The rollout parses calls, checks their arguments, runs
 * the tools in order under their deadlines and shows the results to the policy.
 */
export interface Environment {
  /** Tools of this episode alone, beside the run's; see `EnvironmentSpec.ownTools`. */
  tools?(): readonly ToolSpec[];
  /** The conversation the policy first sees. Called once, before any `step`. */
  start(signal: AbortSignal): Promise<readonly Message[]>;
  /** Receives each turn as the policy wrote it, before its calls run. */
  receive?(message: AssistantMessage, signal: AbortSignal): Promise<void>;
  /** Hidden inputs for a call the policy makes, given to the tool as `context.inputs`. */
  toolInputs?(call: ToolCall): Readonly<Record<string, unknown>>;
  /** Not called again once it has returned `done`. */
  step(turn: Turn, signal: AbortSignal): Promise<EnvironmentStep>;
  /** Judges the episode. Called once, whatever ended it. What it throws is a grader error. */
  finish(end: EpisodeEnd, signal: AbortSignal): Promise<Verdict>;
}

/** How a multi-agent episode begins. */
export interface MultiAgentStart {
  /** By agent: the conversation it first sees, if any. Messages before its first turn follow it. */
  readonly conversations: Readonly<Record<string, readonly Message[]>>;
  /** The agent that acts first. */
  readonly first: string;
}

/** One turn of one of several agents. */
export interface AgentTurn extends Turn {
  readonly agent: string;
  /** Counts the agent's own turns, from 0. */
  readonly index: number;
}

/** A multi-agent environment's answer to a turn. The agent of the turn sees the results of its calls. */
export interface MultiAgentStep {
  readonly done: boolean;
  /** The agent that acts next, if the episode continues; by default the same agent. */
  readonly next?: string;
  /** By agent: shown to it before its next turn, if the episode continues. */
  readonly tell?: Readonly<Record<string, readonly UserMessage[]>>;
}

/**
 * One episode of one task with several agents, which act one at a time. Each has its own transcript and only sees the
 * messages addressed to it. The policy of the run plays every agent that has no other
 * (`agents[].policy`). Like `Environment`, it is single-use.
 */
export interface MultiAgentEnvironment {
  /** Called once, before any `step`. */
  start(): Promise<MultiAgentStart>;
  /** Hidden inputs for a call that an agent makes, given to the tool as `context.inputs`. */
  toolInputs?(call: ToolCall, agent: string): Readonly<Record<string, unknown>>;
  /** Not called again once it has returned `done`. */
  step(turn: AgentTurn, signal: AbortSignal): Promise<MultiAgentStep>;
  /**
   * Judges each agent separately. Called once, whatever ended the episode. If one verdict reports a system failure, it
   * counts for all agents.
   *
   * @param agent the agent of the last turn; absent if the episode had no turn
   */
  finish(
    end: EpisodeEnd,
    signal: AbortSignal,
    agent?: string,
  ): Promise<Readonly<Record<string, Verdict>>>;
}

/** An environment whose episodes are played by an external agent. Like `Environment`, it is single-use. */
export interface ExternalEnvironment {
  /** Runs the agent. @returns its answer */
  run(context: AgentContext): Promise<unknown>;
  /** Whether an error of `run` is the model's fault, such as a call of an unknown tool. */
  isModelError(thrown: unknown): boolean;
  /** As `Environment.finish`. @param answer the agent's result; undefined if it returned nothing or threw */
  finish(end: EpisodeEnd, signal: AbortSignal, answer: unknown): Promise<Verdict>;
}

export type AnyEnvironment = Environment | MultiAgentEnvironment | ExternalEnvironment;

export const environmentReplays = ['from-results', 'again', 'never'] as const;

export type EnvironmentReplay = (typeof environmentReplays)[number];

export interface EnvironmentSpec {
  readonly name: string;
  readonly description: string;
  /** Names of the agents of an episode, two or more: its class is then a `MultiAgentEnvironment`. */
  readonly agents?: readonly string[] | undefined;
  /** Its episodes are played by an external agent: its class is then an `ExternalEnvironment`. */
  readonly external?: boolean | undefined;
  /** Schema of the environment's block in YAML, without `type`. */
  readonly settings: TSchema;
  /** Names of the tools it requires. */
  readonly requires?: readonly string[];
  /** Services that are opened for its class. */
  readonly needs?: readonly Needed[];
  /** How a line of the dataset becomes this environment's task: a dataset format's name. */
  readonly taskFormat: string;
  /**
   * What brings an episode back to where a killed run left it. `from-results`: the recorded results of its tools, which are
   * not called again. `again`, the default: tools that may be repeated are (`onInterrupt`). `never`: the episode begins
   * anew.
   */
  readonly replays?: EnvironmentReplay;
  /** Its episodes begin elsewhere, which costs something, so that prompts are not measured before a run. */
  readonly elsewhere?: boolean;
  /** Whether its verdicts contain the answer, so that several attempts can vote (`eval.strategy: majority`). */
  readonly answers?: boolean;
  /** The problem of a task, such as an answer that cannot be compared; checked before the run starts. */
  readonly taskProblem?: (
    task: Task,
    settings: Readonly<Record<string, unknown>>,
  ) => string | undefined;
  /** Checks what a schema cannot. @throws Error for settings that cannot be used; its message is shown with its place in the file. */
  readonly configure?: (settings: ToolSettings) => void;
  /** Opens what all instances of a run share, which they receive as `shared`. Closed at the end of the run. */
  readonly open?: (settings: ToolSettings, host: ToolHost) => Promise<ToolShared>;
  /**
   * Finds tools that the environment itself brings, as `ToolSpec.find` does. Its class is then also a `Tool`, whose `call`
   * answers their calls, and it is the only environment of a run.
   */
  readonly find?: (settings: ToolSettings, host: ToolHost) => Promise<readonly FoundTool[]>;
  /**
   * Each of its episodes brings tools of its own: the class has `tools`, which returns them, and is also a `Tool`, whose
   * `call` answers their calls.
   */
  readonly ownTools?: boolean;
}

const methods = ['start', 'step', 'finish'] as const;
const externalMethods = ['run', 'isModelError', 'finish'] as const;

export const environments = new PluginKind<EnvironmentSpec, AnyEnvironment>('environment', {
  methods,
  methodsOf: ({ external, ownTools }) => {
    if (external === true) return externalMethods;
    return ownTools === true ? [...methods, 'tools', 'call'] : methods;
  },
  fields: {
    agents: optionalField(fieldRules.agents),
    external: optionalField(fieldRules.flag),
    requires: optionalField(fieldRules.names),
    needs: needsRule('sandbox'),
    taskFormat: fieldRules.text,
    replays: optionalField(oneOf(environmentReplays)),
    elsewhere: optionalField(fieldRules.flag),
    answers: optionalField(fieldRules.flag),
    taskProblem: optionalField(fieldRules.method),
    configure: optionalField(fieldRules.method),
    open: optionalField(fieldRules.method),
    find: optionalField(fieldRules.method),
    ownTools: optionalField(fieldRules.flag),
  },
});

/**
 * Marks a class as an environment plugin: a `MultiAgentEnvironment` if the spec names agents, an `ExternalEnvironment`
 * if it says `external`.
 */
export function environment(
  spec: EnvironmentSpec & { readonly agents: readonly string[]; readonly external?: undefined },
): (target: Class<MultiAgentEnvironment>) => void;
export function environment(
  spec: EnvironmentSpec & { readonly external: true; readonly agents?: undefined },
): (target: Class<ExternalEnvironment>) => void;
export function environment(
  spec: EnvironmentSpec & { readonly agents?: undefined; readonly external?: undefined },
): (target: Class<Environment>) => void;
export function environment(spec: EnvironmentSpec) {
  return environments.mark(spec);
}
