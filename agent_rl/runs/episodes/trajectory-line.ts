import { batchSchema } from '../../core/services/batch.ts';
import type { Trajectory } from '../../core/trajectory.ts';

/**
 * A finished episode as one record of `trajectories/*.jsonl`: what was said and its tokens, what judged it and how, and
 * all that is needed to draw it again. What the policy could not see is under `hidden` and nowhere else.
 */
export function trajectoryLine(
  runId: string,
  trajectory: Trajectory,
): Readonly<Record<string, unknown>> {
  const { taskId, sample, step, seed, place, tokens, spans, logProbs, messages } = trajectory;
  const { outcome, success, components, metrics, turns, malformedCalls, seconds } = trajectory;
  const { problem, sandboxLevel, failure, failedAttempts = [], retries = [] } = trajectory;
  return {
    ...trajectory.record,
    schema: batchSchema,
    runId,
    step,
    taskId,
    ...(trajectory.slice !== undefined && { slice: trajectory.slice }),
    sample,
    ...(trajectory.agent !== undefined && { agent: trajectory.agent }),
    ...(trajectory.learns !== undefined && { learns: trajectory.learns }),
    seed: seed ?? null,
    place: place ?? null,
    messages,
    tokens,
    spans,
    logProbs,
    toolCalls: trajectory.calls.map(({ call, status, result, wallMs, problem: why }) => ({
      id: call.id,
      name: call.name,
      arguments: call.arguments,
      status,
      content: result.content,
      wallMs,
      ...(why !== undefined && { problem: why }),
    })),
    turns,
    malformedCalls,
    outcome,
    success,
    reward: trajectory.reward ?? null,
    components,
    scores: trajectory.scores ?? {},
    ...(trajectory.unpaid !== undefined && { unpaid: trajectory.unpaid }),
    ...(trajectory.answer !== undefined && { answer: trajectory.answer }),
    judgedBy: trajectory.judgedBy ?? null,
    groupReward: trajectory.groupReward ?? null,
    metrics,
    seconds,
    sandboxLevel: sandboxLevel ?? null,
    problem: problem ?? null,
    failure: failure ?? null,
    failedAttempts,
    retries,
    cutTokens: trajectory.cutTokens ?? 0,
    hidden: hiddenOf(trajectory),
  };
}

/** Inputs of tools, and what tools gave the environment besides their text. */
const hiddenOf = ({ hiddenInputs = {}, calls }: Trajectory) => ({
  toolInputs: hiddenInputs,
  toolData: Object.fromEntries(
    calls.flatMap(({ call, result }) =>
      result.data === undefined ? [] : [[call.id, result.data]],
    ),
  ),
});
