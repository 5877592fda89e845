import { onlyAgent } from '../core/rollout.ts';
import { isRecord } from '../core/is-record.ts';
import type { AssistantMessage, Message, ToolCall, UserMessage } from '../core/message.ts';
import type {
  Environment,
  EpisodeEnd,
  ExternalEnvironment,
  MultiAgentEnvironment,
  Turn,
  Verdict,
} from '../core/plugins/environment.ts';
import { showValue } from '../core/show-value.ts';

/** One of the agents of an episode. */
export interface EpisodeAgent {
  name: string;
  /** Whether its tokens are trained on. */
  learns: boolean;
  /** Its player, see `Part.policy`. */
  policy: string;
}

/** The agents of a single-agent environment. */
export const oneAgent: readonly EpisodeAgent[] = [
  { name: onlyAgent, learns: true, policy: onlyAgent },
];

/** Messages to agents, by name. */
export type ToAgents<One extends Message> = Readonly<Record<string, readonly One[]>>;

/** A single-agent or multi-agent environment, seen as a multi-agent one. Its answers are checked. */
export interface World {
  readonly agents: readonly EpisodeAgent[];
  start(signal: AbortSignal): Promise<{ conversations: ToAgents<Message>; first: string }>;
  /** Absent where the environment does not want it. */
  readonly receive?:
    ((message: AssistantMessage, signal: AbortSignal) => Promise<void>) | undefined;
  toolInputs(call: ToolCall, agent: string): Readonly<Record<string, unknown>>;
  step(
    turn: Turn,
    agent: string,
    signal: AbortSignal,
  ): Promise<{ done: boolean; next: string; tell: ToAgents<UserMessage> }>;
  finish(
    end: EpisodeEnd,
    signal: AbortSignal,
    agent: string | undefined,
    answer?: unknown,
  ): Promise<Readonly<Record<string, Verdict>>>;
  /** An external agent. It plays the whole episode; `start` and `step` are not called. */
  readonly outside?: Pick<ExternalEnvironment, 'run' | 'isModelError'> | undefined;
}

export const worldOfOne = (environment: Environment): World => ({
  agents: oneAgent,
  start: async (signal) => ({
    conversations: { [onlyAgent]: await environment.start(signal) },
    first: onlyAgent,
  }),
  receive: environment.receive && ((message, signal) => environment.receive!(message, signal)),
  toolInputs: (call) => environment.toolInputs?.(call) ?? {},
  step: async (turn, _, signal) => {
    const { done, messages = [] } = await environment.step(turn, signal);
    return { done, next: onlyAgent, tell: { [onlyAgent]: messages } };
  },
  finish: async (end, signal) => ({ [onlyAgent]: await environment.finish(end, signal) }),
});

/** The environment of an external agent: it receives no messages and answers no turns. */
export const worldOfAgent = (environment: ExternalEnvironment): World => ({
  agents: oneAgent,
  outside: environment,
  start: async () => ({ conversations: {}, first: onlyAgent }),
  toolInputs: () => ({}),
  step: async () => {
    throw new Error('step() cannot be called: an external agent plays its own turns.');
  },
  finish: async (end, signal, _, answer) => ({
    [onlyAgent]: await environment.finish(end, signal, answer),
  }),
});

export function worldOfSeveral(
  environment: MultiAgentEnvironment,
  agents: readonly EpisodeAgent[],
): World {
  const names = agents.map(({ name }) => name);
  const known = (place: string, name: unknown): void => {
    if (typeof name !== 'string' || !names.includes(name))
      throw wrong(place, name, `one of the agents of the environment: ${names.join(', ')}`);
  };
  const toAgents = (place: string, value: unknown): void => {
    if (!isRecord(value)) throw wrong(place, value, 'messages by agent');
    for (const [name, messages] of Object.entries(value)) {
      known(`an agent in ${place}`, name);
      if (!Array.isArray(messages)) throw wrong(`${place}.${name}`, messages, 'a list of messages');
    }
  };
  return {
    agents,
    start: async () => {
      const { conversations, first } = await environment.start();
      toAgents('conversations', conversations);
      known('first', first);
      return { conversations, first };
    },
    toolInputs: (call, agent) => environment.toolInputs?.(call, agent) ?? {},
    step: async (turn, agent, signal) => {
      const { done, next = agent, tell = {} } = await environment.step({ ...turn, agent }, signal);
      known('next', next);
      toAgents('tell', tell);
      return { done, next, tell };
    },
    finish: async (end, signal, agent) => {
      const verdicts = await environment.finish(end, signal, agent);
      const missing = names.find((name) => !isRecord(verdicts) || !isRecord(verdicts[name]));
      if (missing !== undefined)
        throw new TypeError(`The verdict for ${missing} is missing; expected one for each agent.`);
      return verdicts;
    },
  };
}

const wrong = (name: string, value: unknown, allowed: string): TypeError =>
  new TypeError(`${name} is ${showValue(value, 60)}; expected ${allowed}.`);
