import type { Outcome } from '#agent_rl/core/outcome.ts';
import { isSystemFailure } from '#agent_rl/core/outcome.ts';
import type { Trajectory } from '#agent_rl/core/trajectory.ts';
import { Transcript } from '#agent_rl/core/transcript.ts';

interface Sketch {
  sampled?: number;
  prompt?: number;
  outcome?: Outcome;
  reward?: number;
  success?: boolean;
  taskId?: string;
  sample?: number;
  metrics?: Readonly<Record<string, number>>;
}

/** A finished episode of one turn: `prompt` tokens, then `sampled` ones of log-probability -0.5. */
export function trajectory(sketch: Sketch = {}): Trajectory {
  const { sampled = 3, prompt = 2, outcome = 'completed', taskId = 't', sample = 0 } = sketch;
  const transcript = new Transcript();
  transcript.append(
    'user',
    Array.from({ length: prompt }, (_, i) => i + 1),
  );
  transcript.appendSampled(
    Array.from({ length: sampled }, (_, i) => 10 + i),
    Array<number>(sampled).fill(-0.5),
    1,
  );
  const reward = isSystemFailure(outcome) ? undefined : (sketch.reward ?? 0);
  return {
    ...transcript.record(),
    taskId,
    sample,
    step: 0,
    messages: [],
    calls: [],
    turns: 1,
    malformedCalls: 0,
    outcome,
    success: sketch.success ?? (reward ?? 0) > 0,
    reward,
    components: {},
    metrics: sketch.metrics ?? {},
    seconds: { generation: 0, tools: 0, grading: 0 },
    ...(isSystemFailure(outcome) && { problem: 'it broke' }),
  };
}
