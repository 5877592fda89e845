import type { Policy } from '../core/plugins/policy.ts';
import type { Sampling } from '../core/services/generator.ts';
import type { Task } from '../core/tasks/task.ts';
import type { AgentContext } from '../core/plugins/agent.ts';
import type { EnvironmentReplay, Turn } from '../core/plugins/environment.ts';
import { onlyAgent, type Part, type RequestFacts, type RolloutKey } from '../core/rollout.ts';
import type { Tool } from '../core/plugins/tool.ts';
import type { WeightedReward } from './combine-rewards.ts';
import type { EpisodeLog } from './episode-log.ts';
import type { ToolRunner } from './tools/tool-runner.ts';
import type { EpisodeAgent, World } from './world.ts';

export interface EpisodeLimits {
  /** Of each agent. */
  maxTurns: number;
  /** Prompt and all turns together, of each agent. */
  maxEpisodeTokens: number;
  /** Most tokens sampled in one turn. */
  maxTurnTokens: number;
  /** This many malformed, unknown or invalid calls end the episode. */
  invalidCallLimit: number;
  /** Retries of a call to the generator or a tool after a temporary failure. 0 by default. */
  retries?: number | undefined;
  /** Time limits of a plugin's own work in seconds; no limits by default. Sampling has no deadline. */
  deadlines?: { environmentS: number; gradingS: number } | undefined;
}

/** The endpoint of one rollout for requests to the model. */
export interface RolloutDoor extends Pick<AgentContext, 'fetch' | 'baseURL' | 'apiKey'> {
  /** Excludes its waits from the agent's time: called in the context that is timed. */
  waitIn(inContext: <Value>(work: () => Value) => Value): void;
  /** Refuses further requests and cancels running ones. @param answer what the agent returned */
  end(answer: unknown): Promise<OutsideRecord>;
}

/** The outcome of a rollout's requests. */
export interface OutsideRecord extends Pick<Part, 'sequences' | 'undelivered'> {
  /** Of the sequence with the last answer, as are `turns`. */
  readonly messages: Part['messages'];
  readonly turns: readonly Turn[];
  readonly requests: RequestFacts;
  /** The first limit of the run that refused a request. */
  readonly refused: 'token-limit' | 'turn-limit' | undefined;
  /** Whether a limit of the run cut the last answer. */
  readonly cut: boolean;
  readonly failure: unknown;
}

/** Where external agents send requests to the model. */
export interface Gateway {
  /** Opens the endpoint of one rollout. @param log receives the waiting time and retried requests to the generator */
  enter(
    request: EpisodeRequest,
    log: Pick<EpisodeLog, 'retried' | 'watch'>,
    signal: AbortSignal,
  ): RolloutDoor;
}

/** The parts of an episode. World and tools are its own; the policy is shared. */
export interface EpisodeParts {
  /** The environment, as one of one agent or of several. */
  world: World;
  policy: Policy;
  /** The named policies, which play the agents that the world gives them. */
  others?: ReadonlyMap<string, Policy> | undefined;
  /** For messages. */
  environmentName?: string | undefined;
  /** What brings the environment back after an interruption; `again` by default. */
  replays?: EnvironmentReplay | undefined;
  /** As `EnvironmentSpec.elsewhere`. */
  elsewhere?: boolean | undefined;
  /** Where the environment is from, for messages. */
  environmentSource?: string | undefined;
  tools: ReadonlyMap<string, Tool>;
  /** Shared by all episodes of a run. */
  toolRunner: ToolRunner;
  /** Rewards added to the environment's. */
  rewards: readonly WeightedReward[];
  /** Weight of the environment's own reward. 1 by default. */
  environmentWeight?: number | undefined;
  /** Subtracted from the reward for each malformed, unknown or invalid call. */
  invalidCallPenalty: number;
  limits: EpisodeLimits;
  /** The endpoint of an external agent. */
  gateway?: Gateway | undefined;
  /** Backend and level that run the policy's code, if any. */
  sandboxLevel?: string | undefined;
  /** Releases the resources of this episode. */
  close?(): Promise<void>;
}

/** The policy that plays an agent. */
export const policyOf = (
  { policy, others, world }: Pick<EpisodeParts, 'policy' | 'others' | 'world'>,
  agent: string,
): Policy => others?.get(playerOf(world, agent)) ?? policy;

/** The name of the policy that plays an agent. */
export const playerOf = ({ agents }: Pick<World, 'agents'>, agent: string): string =>
  agents.find(({ name }) => name === agent)?.policy ?? onlyAgent;

/**
 * Which episode to play. All its randomness is a function of `seed`, task, the key's sample and the position in the
 * episode.
 */
export interface EpisodeRequest {
  task: Task;
  /** Randomness depends on its `sample` only. */
  key: RolloutKey;
  /** Optimiser step whose weights sample it. */
  step: number;
  seed: number;
  sampling: Sampling;
}

/** Creates the parts of one episode. Its errors fail that episode. */
export interface EpisodeMaker {
  (request: EpisodeRequest): Promise<EpisodeParts> | EpisodeParts;
  /** The agents of a task's episodes, even if its parts cannot be created; by default a single agent. */
  agentsOf?: (task: Task) => readonly EpisodeAgent[];
}
