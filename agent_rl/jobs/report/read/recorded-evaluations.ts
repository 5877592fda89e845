import { readEpisodes } from '../../../runs/episodes/read-episodes.ts';
import type { RunFolder } from '../../../runs/run-folder.ts';

/** The attempts of one evaluation as `trajectories/eval.jsonl` has them, those of slices among them. */
export interface RecordedEvaluation {
  when: string;
  iteration: number;
  /** Attempts with a verdict, and those of them that solved the task. */
  judged: number;
  successes: number;
  /** Attempts that the system failed. */
  unjudged: number;
}

/** Each evaluation that a run recorded, in order. @throws AgentRlError `DATASET_INVALID` */
export async function recordedEvaluations(folder: RunFolder): Promise<RecordedEvaluation[]> {
  const found = new Map<string, RecordedEvaluation>();
  for await (const { when = 'eval', iteration, reward, success, learns } of readEpisodes(
    folder,
    'eval',
  )) {
    if (learns === false) continue;
    const key = `${when} ${iteration}`;
    const one = found.get(key) ?? { when, iteration, judged: 0, successes: 0, unjudged: 0 };
    found.set(key, one);
    if (reward === null) one.unjudged += 1;
    else one.judged += 1;
    if (reward !== null && success) one.successes += 1;
  }
  return [...found.values()];
}
