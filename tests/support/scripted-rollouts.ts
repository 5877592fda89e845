import type { Trajectory } from '#agent_rl/core/trajectory.ts';
import type { EpisodeRequest } from '#agent_rl/rollout/episode-parts.ts';
import type { CollectOptions, Rollouts } from '#agent_rl/rollout/rollout-worker.ts';

/** Answers each request with what the script makes of it. */
export class ScriptedRollouts implements Rollouts {
  readonly requests: EpisodeRequest[] = [];

  /** @param script one trajectory, or one for each agent */
  constructor(
    private readonly script: (request: EpisodeRequest) => Trajectory | readonly Trajectory[],
  ) {}

  async collect(
    requests: readonly EpisodeRequest[],
    { onEpisode }: CollectOptions,
  ): Promise<(readonly Trajectory[])[]> {
    return requests.map((request) => {
      this.requests.push(request);
      const { task, sample, step } = request;
      const episode = [this.script(request)]
        .flat()
        .map((played) => Object.assign({ ...played }, { taskId: task.taskId, sample, step }));
      onEpisode?.(episode);
      return episode;
    });
  }
}
