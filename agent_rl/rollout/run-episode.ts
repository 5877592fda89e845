import { runEndingError } from '../core/errors.ts';
import type { Outcome } from '../core/outcome.ts';
import type { FailedAttempt, Trajectory } from '../core/trajectory.ts';
import { entryOf, Episode, logsOf, ofAll } from './episode.ts';
import type { EpisodeMaker, EpisodeParts, EpisodeRequest } from './episode-parts.ts';
import { failed, type Judged, judgedBy } from './judged.ts';
import { sampledTokens } from './tokens/ledger.ts';
import { pauseBeforeRetry } from './retrying.ts';
import { type EpisodeAgent, sole, worldOf } from './world.ts';

/** Which failed episodes are played again under their key, and how often. */
export interface EpisodeRetries {
  count: number;
  outcomes: readonly Outcome[];
}

const noRetries: EpisodeRetries = { count: 0, outcomes: [] };

/**
 * Plays one episode to its end. What fails is on the trajectory; what may pass is tried again first.
 *
 * @throws AgentRlError only what ends the whole run, see `runEndingError`
 */
export async function runEpisode(
  make: EpisodeMaker,
  request: EpisodeRequest,
  cancelled: AbortSignal,
  retries: EpisodeRetries = noRetries,
): Promise<Trajectory[]> {
  const failedAttempts: (readonly Trajectory[])[] = [];
  for (;;) {
    const trajectories = await attempt(make, request, cancelled);
    // The system fails all agents of an episode or none.
    const [{ outcome, failure } = neverFails] = trajectories;
    const again =
      failure?.retryable === true &&
      retries.outcomes.includes(outcome) &&
      failedAttempts.length < retries.count &&
      !cancelled.aborted;
    if (!again) return trajectories.map((one, at) => withAttempts(one, at, failedAttempts));
    failedAttempts.push(trajectories);
    await pauseBeforeRetry(failedAttempts.length, cancelled);
  }
}

const neverFails: Pick<Trajectory, 'outcome' | 'failure'> = { outcome: 'completed' };

/** A trajectory with its agent's part in the attempts that failed before. */
function withAttempts(
  trajectory: Trajectory,
  at: number,
  attempts: readonly (readonly Trajectory[])[],
): Trajectory {
  const failedAttempts = attempts.flatMap((trajectories): FailedAttempt[] => {
    const own = trajectories[at];
    if (own?.failure === undefined) return [];
    const { outcome, failure, problem = '' } = own;
    return [{ outcome, problem, failure, sampledTokens: sampledTokens(own) }];
  });
  return failedAttempts.length === 0
    ? trajectory
    : Object.freeze({ ...trajectory, failedAttempts });
}

/** Plays an episode of one agent. */
export async function runSoleEpisode(
  make: EpisodeMaker,
  request: EpisodeRequest,
  cancelled: AbortSignal,
  retries: EpisodeRetries = noRetries,
): Promise<Trajectory> {
  const [trajectory, ...others] = await runEpisode(make, request, cancelled, retries);
  if (trajectory !== undefined && others.length === 0) return trajectory;
  throw new Error(`The episode has ${1 + others.length} agents; expected one.`);
}

async function attempt(
  make: EpisodeMaker,
  request: EpisodeRequest,
  cancelled: AbortSignal,
): Promise<Trajectory[]> {
  let parts: EpisodeParts | undefined;
  let agents = make.agentsOf?.(request.task) ?? [soleAgent];
  let logs = logsOf(agents, request);
  let judged: ReadonlyMap<string, Judged>;
  try {
    cancelled.throwIfAborted();
    parts = await make(request);
    const world = worldOf(parts);
    agents = world.agents;
    logs = logsOf(agents, request);
    judged = await new Episode({ parts, world, logs }, request).run(cancelled);
  } catch (thrown) {
    const ending = runEndingError(thrown);
    if (ending !== undefined) throw ending;
    judged = ofAll(logs, failed(cancelled.aborted ? 'aborted' : 'infrastructure-error', thrown));
  }
  const { task, sample, step, seed, place } = request;
  const { slice } = task.metadata;
  const shared = {
    taskId: task.taskId,
    ...(typeof slice === 'string' && { slice }),
    sample,
    step,
    seed,
    ...(place && { place }),
    ...(parts && { judgedBy: judgedBy(parts) }),
    ...(parts?.sandboxLevel === undefined ? {} : { sandboxLevel: parts.sandboxLevel }),
  };
  return agents.map(({ name, learns }) =>
    Object.freeze({
      ...entryOf(logs, name).record(),
      ...shared,
      ...(name !== sole && { agent: name }),
      ...(!learns && { learns }),
      ...entryOf(judged, name),
    }),
  );
}

const soleAgent: EpisodeAgent = { name: sole, learns: true };
