import type { TSchema } from 'typebox';

import { AgentRlError, messageOf } from '../errors.ts';
import type { Turn, Verdict } from './environment.ts';
import type { Message } from '../message.ts';
import { type Needed, needsRule } from './given.ts';
import { PluginKind } from './plugin.ts';
import { fieldRules, optionalField } from './plugin-rules.ts';
import type { Task } from '../tasks/task.ts';
import type { ToolHost, ToolShared } from './tool.ts';

/** What a reward sees: the finished episode, without tokens. */
export interface EpisodeView {
  readonly task: Task;
  /** The agent that is judged; `policy` in single-agent episodes. */
  readonly agent: string;
  readonly messages: readonly Message[];
  readonly turns: readonly Turn[];
  /** The result of an external agent; otherwise the text of the agent's last message. */
  readonly answer?: unknown;
  readonly verdict: Verdict;
}

/** A number for an episode, one for each of its turns, whose sum is the score, or `undefined` when it does not apply. */
export type RewardScore = number | readonly number[] | undefined;

/** The score of an episode; the sum where its turns have one each. */
export const scoreOf = (given: RewardScore): number | undefined =>
  typeof given === 'object' ? given.reduce((sum, one) => sum + one, 0) : given;

export type RewardFunction<Settings = unknown> = (
  episode: EpisodeView,
  settings: Settings,
) => RewardScore | Promise<RewardScore>;

export interface RewardSpec {
  readonly name: string;
  readonly description: string;
  /** Schema of the reward's own settings in YAML. */
  readonly settings?: TSchema;
  /** Services that are opened for its class. */
  readonly needs?: readonly Needed[];
  /**
   * It only judges by the prompt and the conversation; may be a function of its settings. A blind reward sees neither
   * the verdict nor the rest of the task, and may choose among attempts (`eval.selector`).
   */
  readonly blind?: boolean | ((settings: Readonly<Record<string, unknown>>) => boolean);
  /**
   * Opens what all instances share in a run, such as a model; they receive it as `shared`. Closed at the end of the
   * run.
   */
  readonly open?: (
    settings: Readonly<Record<string, unknown>>,
    host: RewardHost,
  ) => Promise<RewardShared>;
}

/** What a reward may use while it is opened. */
export interface RewardHost extends ToolHost {
  /** The tasks of the run, for training and held out. */
  readonly tasks: readonly Task[];
}

/**
 * Whether a reward with these settings is blind.
 *
 * @throws AgentRlError `PLUGIN_LOAD_FAILED` where its spec's function throws
 */
export function isBlind(
  { name, blind = false }: Pick<RewardSpec, 'name' | 'blind'>,
  settings: Readonly<Record<string, unknown>>,
): boolean {
  if (typeof blind === 'boolean') return blind;
  try {
    return blind(settings);
  } catch (cause) {
    const text = `The function "blind" of reward "${name}" threw: ${messageOf(cause)}. It receives the reward's settings and returns whether the reward is blind.`;
    throw new AgentRlError('PLUGIN_LOAD_FAILED', text, { cause });
  }
}

/** A task as a blind reward sees it: without answers, tests and metadata. */
export const withoutAnswers = ({ taskId, prompt, environment }: Task): Task => ({
  taskId,
  prompt,
  metadata: {},
  environment,
});

/** An episode as a blind reward sees it: reading the verdict throws. */
export const blindView = ({ task, agent, messages, turns, answer }: EpisodeView): EpisodeView => ({
  task: withoutAnswers(task),
  agent,
  messages,
  turns,
  answer,
  get verdict(): Verdict {
    throw new Error(
      'The reward reads the verdict, but it is declared as blind, and blind rewards cannot see the verdict.',
    );
  },
});

/** What all instances of a reward share in a run. */
export type RewardShared = ToolShared;

export const rewards = new PluginKind<RewardSpec, RewardFunction>('reward', {
  methods: ['score'],
  orFunction: true,
  fields: {
    needs: needsRule('sandbox'),
    blind: optionalField(fieldRules.flagOrMethod),
    open: optionalField(fieldRules.method),
  },
});

/**
 * Marks a reward: a class with a `score` method as a decorator, or a function.
 *
 * @example export const brevity = reward({ name: 'brevity', description: '…' })((episode) => …)
 */
export const reward = (spec: RewardSpec) => rewards.mark(spec);
