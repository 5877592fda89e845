import type {
  Environment,
  EnvironmentStep,
  EpisodeEnd,
  Turn,
  Verdict,
} from '#agent_rl/core/plugins/environment.ts';
import type { Message, ToolCall } from '#agent_rl/core/message.ts';
import { user } from '#agent_rl/core/message.ts';

/** An environment whose parts can be replaced one by one. By default it ends with a turn that calls nothing. */
export class ScriptedEnvironment implements Environment {
  readonly ends: EpisodeEnd[] = [];
  readonly seen: Turn[] = [];

  constructor(private readonly script: Partial<Environment> = {}) {}

  async start(signal: AbortSignal): Promise<readonly Message[]> {
    return this.script.start?.(signal) ?? [user('a task')];
  }

  toolInputs(call: ToolCall): Readonly<Record<string, unknown>> {
    return this.script.toolInputs?.(call) ?? {};
  }

  async step(turn: Turn, signal: AbortSignal): Promise<EnvironmentStep> {
    this.seen.push(turn);
    const silent = turn.calls.length === 0 && turn.message.malformedCalls === undefined;
    return this.script.step?.(turn, signal) ?? { done: silent };
  }

  async finish(end: EpisodeEnd, signal: AbortSignal): Promise<Verdict> {
    this.ends.push(end);
    const verdict = { outcome: 'completed', reward: 1, components: { solved: 1 } } as const;
    return this.script.finish?.(end, signal) ?? { ...verdict, success: true };
  }
}
