import type { Rollout } from '#agent_rl/core/rollout.ts';
import type { EpisodeRequest } from '#agent_rl/rollout/episode-parts.ts';
import type { CollectOptions, Rollouts } from '#agent_rl/rollout/rollout-worker.ts';

/** Answers each request with what the script makes of it. */
export class ScriptedRollouts implements Rollouts {
  readonly requests: EpisodeRequest[] = [];

  constructor(private readonly script: (request: EpisodeRequest) => Rollout) {}

  async collect(requests: readonly EpisodeRequest[], { onRollout }: CollectOptions) {
    return requests.map((request) => {
      this.requests.push(request);
      const { task, key, step, seed } = request;
      const rollout = { ...this.script(request), taskId: task.taskId, key, step, seed };
      onRollout?.(rollout);
      return rollout;
    });
  }
}
