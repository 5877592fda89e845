import type { Trajectory } from '../core/trajectory.ts';

/** Version of the layout of a line. */
const trajectorySchema = 1;

/** A finished episode as one record of `trajectories/*.jsonl`. */
export function trajectoryLine(
  runId: string,
  trajectory: Trajectory,
): Readonly<Record<string, unknown>> {
  const { taskId, sample, step, tokens, spans, logProbs, outcome, success } = trajectory;
  const { components, metrics, turns, malformedCalls, seconds, problem, sandboxLevel } = trajectory;
  return {
    ...trajectory.record,
    schema: trajectorySchema,
    runId,
    step,
    taskId,
    sample,
    tokens,
    spans,
    logProbs,
    toolCalls: trajectory.calls.map(({ call, status, result, wallMs }) => ({
      id: call.id,
      name: call.name,
      arguments: call.arguments,
      status,
      content: result.content,
      wallMs,
    })),
    turns,
    malformedCalls,
    outcome,
    success,
    reward: trajectory.reward ?? null,
    components,
    scores: trajectory.scores ?? {},
    metrics,
    seconds,
    sandboxLevel: sandboxLevel ?? null,
    problem: problem ?? null,
  };
}
