import { runEndingError } from '../core/errors.ts';
import { drawnTokens, learnersIn, type Part, type Rollout } from '../core/rollout.ts';
import type { Outcome } from '../core/outcome.ts';
import type { AttemptJournal, RolloutJournal } from '../core/services/journal.ts';
import { entryOf, Episode, logsOf, ofAll } from './episode.ts';
import type { EpisodeMaker, EpisodeParts, EpisodeRequest } from './episode-parts.ts';
import { failed, failedOutcome, type Judged, judgedBy } from './judged.ts';
import { pauseBeforeRetry } from './retrying.ts';
import { oneAgent } from './world.ts';

/** Which failed episodes are retried under their key, and how often. */
export interface EpisodeRetries {
  count: number;
  outcomes: readonly Outcome[];
}

const noRetries: EpisodeRetries = { count: 0, outcomes: [] };

export interface RunEpisodeOptions {
  /** By default none. */
  retries?: EpisodeRetries | undefined;
  /** Absent outside a run. */
  journal?: RolloutJournal | undefined;
}

/**
 * Plays one episode to its end, or takes it from an earlier session. The rollout records failures; temporary ones are
 * retried first.
 *
 * @throws AgentRlError only what ends the whole run, see `runEndingError`
 */
export async function runEpisode(
  make: EpisodeMaker,
  request: EpisodeRequest,
  cancelled: AbortSignal,
  { retries = noRetries, journal }: RunEpisodeOptions = {},
): Promise<Rollout> {
  const { key, seed, task } = request;
  const completed = journal?.completed(key);
  if (completed !== undefined) return Object.freeze(completed);
  const draws = { seed, taskId: task.taskId, sample: key.sample };
  const failedAttempts = [...(journal?.failedAttempts(key) ?? [])];
  for (;;) {
    const own = journal?.begin(key, draws, failedAttempts.length);
    const rollout = await attempt(make, request, { cancelled, journal: own });
    const { outcome, failure, problem = '', parts } = rollout;
    const again =
      retries.outcomes.includes(outcome) &&
      failedAttempts.length < retries.count &&
      !cancelled.aborted;
    if (!again || failure?.retryable !== true) {
      const ended = Object.freeze({ ...rollout, failedAttempts });
      journal?.ended(ended);
      return ended;
    }
    const tokens = parts.reduce((sum, part) => sum + drawnTokens(part), 0);
    const lost = { outcome, problem, failure, sampledTokens: tokens };
    journal?.failed(key, lost, failedAttempts.length);
    failedAttempts.push(lost);
    await pauseBeforeRetry(failedAttempts.length, cancelled);
  }
}

async function attempt(
  make: EpisodeMaker,
  request: EpisodeRequest,
  { cancelled, journal }: { cancelled: AbortSignal; journal: AttemptJournal | undefined },
): Promise<Omit<Rollout, 'failedAttempts'>> {
  let parts: EpisodeParts | undefined;
  let agents = make.agentsOf?.(request.task) ?? oneAgent;
  let logs = logsOf(agents, request);
  let judged: ReadonlyMap<string, Judged>;
  try {
    cancelled.throwIfAborted();
    parts = await make(request);
    ({ agents } = parts.world);
    logs = logsOf(agents, request);
    judged = await new Episode({ parts, logs, journal }, request).run(cancelled);
  } catch (thrown) {
    const ending = runEndingError(thrown);
    if (ending !== undefined) throw ending;
    judged = ofAll(logs, failed(failedOutcome(thrown, cancelled), thrown));
  }
  const { task, key, step, seed } = request;
  const { slice } = task.metadata;
  const played = agents.map(({ name, ...agent }): Part => {
    const { problem: _why, failure: _whose, ...verdict } = entryOf(judged, name);
    const log = entryOf(logs, name).record();
    return Object.freeze({
      ...agent,
      agent: name,
      ...log,
      ...verdict,
      groupReward: undefined,
      unjudged: undefined,
    });
  });
  // A system failure counts for all agents of an episode.
  const [{ failure, problem } = noFailure] = judged.values();
  return {
    key,
    taskId: task.taskId,
    slice: typeof slice === 'string' ? slice : undefined,
    step,
    seed,
    parts: played,
    outcome: outcomeOf(played),
    failure,
    problem,
    judgedBy: parts && judgedBy(parts),
    sandboxLevel: parts?.sandboxLevel,
  };
}

const noFailure: Pick<Judged, 'failure' | 'problem'> = {};

function outcomeOf(parts: readonly Part[]): Outcome {
  const learners = learnersIn(parts);
  return (learners.find(({ success }) => !success) ?? learners[0])?.outcome ?? 'completed';
}
