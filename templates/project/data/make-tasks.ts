import { writeLines } from './write-lines.ts';
import { questionsOf, type Question, type Split } from './questions.ts';

/*
 * Writes tasks/train.jsonl and tasks/eval.jsonl: one task a line.
 */

const tasks = (split: Split, count: number) =>
  questionsOf(split, count).map(({ prompt, answer, kind }: Question, index) => ({
    task_id: `${split}-${index}`,
    prompt,
    // The environment reads it; the model never does.
    answer,
    metadata: {
      kind,
      // Held-out tasks with a slice are reported separately, and are not in the total.
      ...(split === 'unseen-pair' && { slice: split }),
    },
  }));

await writeLines('tasks/train.jsonl', tasks('train', 480));
await writeLines('tasks/eval.jsonl', [...tasks('eval', 150), ...tasks('unseen-pair', 60)]);
