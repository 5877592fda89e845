import type { Trajectory } from '#agent_rl/core/trajectory.ts';
import type { EpisodeRequest } from '#agent_rl/rollout/episode-parts.ts';
import type { CollectOptions, Rollouts } from '#agent_rl/rollout/rollout-worker.ts';

/** Answers each request with what the script makes of it. */
export class ScriptedRollouts implements Rollouts {
  readonly requests: EpisodeRequest[] = [];

  constructor(private readonly script: (request: EpisodeRequest) => Trajectory) {}

  async collect(
    requests: readonly EpisodeRequest[],
    { onEpisode }: CollectOptions,
  ): Promise<Trajectory[]> {
    return requests.map((request) => {
      this.requests.push(request);
      const { task, sample, step } = request;
      const trajectory = { ...this.script(request), taskId: task.taskId, sample, step };
      onEpisode?.(trajectory);
      return trajectory;
    });
  }
}
