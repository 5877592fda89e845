import { user } from '#agent_rl/core/message.ts';
import type {
  AgentTurn,
  EpisodeEnd,
  MultiAgentEnvironment,
  MultiAgentStart,
  MultiAgentStep,
  Verdict,
} from '#agent_rl/core/plugins/environment.ts';
import type { EpisodeParts } from '#agent_rl/rollout/episode-parts.ts';
import { runEpisode } from '#agent_rl/rollout/run-episode.ts';
import { worldOfSeveral } from '#agent_rl/rollout/world.ts';
import { ToolRunner } from '#agent_rl/rollout/tools/tool-runner.ts';
import { limits, request } from './play-episode.ts';
import { says, type Script, ScriptedPolicy } from './scripted-policy.ts';

/** The speaker hints, the guesser guesses, twice each; what each hears is what the other said. */
class Hints implements MultiAgentEnvironment {
  readonly ends: [EpisodeEnd, string | undefined][] = [];
  readonly seen: AgentTurn[] = [];

  constructor(private readonly script: Partial<MultiAgentEnvironment> = {}) {}

  async start(): Promise<MultiAgentStart> {
    const start = { conversations: { speaker: [user('The word is sea.')] }, first: 'speaker' };
    return this.script.start?.() ?? start;
  }

  async step(turn: AgentTurn, signal: AbortSignal): Promise<MultiAgentStep> {
    this.seen.push(turn);
    if (this.script.step !== undefined) return this.script.step(turn, signal);
    const { agent, index, message } = turn;
    const next = agent === 'speaker' ? 'guesser' : 'speaker';
    if (agent === 'guesser' && index === 1) return { done: true };
    return { done: false, next, tell: { [next]: [user(message.content)] } };
  }

  async finish(end: EpisodeEnd, signal: AbortSignal, agent?: string) {
    this.ends.push([end, agent]);
    const scripted = await this.script.finish?.(end, signal, agent);
    return scripted ?? { speaker: verdictOf(0.5), guesser: verdictOf(1) };
  }
}

export const verdictOf = (reward: number): Verdict => ({
  outcome: 'completed',
  reward,
  components: { found: reward },
  metrics: { tries: 2 },
  success: reward === 1,
});

/** What each says: its name and the number of the turn. */
export const named: Script = ({ key: { agent, turn } }) => ({ message: says(`${agent} ${turn}`) });

interface DuetSetting {
  environment?: Partial<MultiAgentEnvironment>;
  script?: Script;
  parts?: Partial<EpisodeParts>;
  learns?: Readonly<Record<string, boolean>>;
  players?: Readonly<Record<string, string>>;
}

/** Plays one episode of a speaker and a guesser. */
export async function playDuet(setting: DuetSetting = {}) {
  const { environment: own, script, parts, learns = {}, players = {} } = setting;
  const policy = new ScriptedPolicy(script ?? named);
  const environment = new Hints(own);
  const agents = ['speaker', 'guesser'].map((name) => ({
    name,
    learns: learns[name] ?? true,
    policy: players[name] ?? 'policy',
  }));
  const all: EpisodeParts = {
    policy,
    world: worldOfSeveral(environment, agents),
    environmentName: 'hints',
    tools: new Map(),
    toolRunner: new ToolRunner([]),
    rewards: [],
    invalidCallPenalty: 0,
    limits,
    ...parts,
  };
  const rollout = await runEpisode(() => all, request, new AbortController().signal);
  const [speaker, guesser, ...others] = rollout.parts;
  if (speaker === undefined || guesser === undefined || others.length > 0)
    throw new Error('Two parts were expected.');
  return { policy, environment, rollout, speaker, guesser };
}
