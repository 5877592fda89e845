import type { Policy } from '../core/plugins/policy.ts';
import type { Sampling } from '../core/services/generator.ts';
import type { Task } from '../core/tasks/task.ts';
import type { AgentContext } from '../core/plugins/agent.ts';
import type { Turn } from '../core/plugins/environment.ts';
import type { Part, RequestFacts, RolloutKey } from '../core/rollout.ts';
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
  /** The episode ends at this many malformed, unknown or invalid calls. */
  invalidCallLimit: number;
  /** Most times a call to the generator or a tool is made again when what failed may pass. 0 by default. */
  retries?: number | undefined;
  /** Seconds that a plugin's own work may take; without them it is waited for. Sampling has no deadline. */
  deadlines?: { environmentS: number; gradingS: number } | undefined;
}

/** The way of one rollout to the model. */
export interface RolloutDoor extends Pick<AgentContext, 'fetch' | 'baseURL' | 'apiKey'> {
  /** Has what it waits for cost the agent no time: called in the context that is timed. */
  waitIn(inContext: <Value>(work: () => Value) => Value): void;
  /** Refuses what comes from now on, and gives up what is under way. @param answer what the agent returned */
  end(answer: unknown): Promise<OutsideRecord>;
}

/** What became of the requests of a rollout. */
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

/** Where agents with a loop of their own ask the model. */
export interface Gateway {
  /** Opens the way in of one rollout. @param log is told how long it was waited for, and what was asked of the generator again */
  enter(
    request: EpisodeRequest,
    log: Pick<EpisodeLog, 'retried' | 'watch'>,
    signal: AbortSignal,
  ): RolloutDoor;
}

/** What an episode is played with. World and tools are its own; the policy is shared. */
export interface EpisodeParts {
  /** The environment, as one of one agent or of several. */
  world: World;
  policy: Policy;
  /** What plays an agent instead, by its name. */
  opponents?: ReadonlyMap<string, Policy> | undefined;
  /** For messages. */
  environmentName?: string | undefined;
  /** Where the environment is from, for messages. */
  environmentSource?: string | undefined;
  tools: ReadonlyMap<string, Tool>;
  /** Shared by all episodes of a run. */
  toolRunner: ToolRunner;
  /** Added to what the environment gives. */
  rewards: readonly WeightedReward[];
  /** Factor of the environment's own reward in the sum. 1 by default. */
  environmentWeight?: number | undefined;
  /** Subtracted from the reward for each malformed, unknown or invalid call. */
  invalidCallPenalty: number;
  limits: EpisodeLimits;
  /** Where an agent with a loop of its own asks the model. */
  gateway?: Gateway | undefined;
  /** Backend and level that run the policy's code, if any. */
  sandboxLevel?: string | undefined;
  /** Lets go of what was made for this episode. */
  close?(): Promise<void>;
}

/** What plays an agent. */
export const policyOf = (
  { policy, opponents }: Pick<EpisodeParts, 'policy' | 'opponents'>,
  agent: string,
): Policy => opponents?.get(agent) ?? policy;

/** Which episode to play. Everything random in it is a function of `seed`, task, the key's sample and the place in the episode. */
export interface EpisodeRequest {
  task: Task;
  /** Draws depend on its sample and on nothing else of it. */
  key: RolloutKey;
  /** Optimiser step whose weights sample it. */
  step: number;
  seed: number;
  sampling: Sampling;
}

/** Makes the parts of one episode. What it throws fails that episode. */
export interface EpisodeMaker {
  (request: EpisodeRequest): Promise<EpisodeParts> | EpisodeParts;
  /** The agents of a task's episodes, also of one whose parts cannot be made; by default the only one. */
  agentsOf?: (task: Task) => readonly EpisodeAgent[];
}
