// The id of each task, which the environment's reset is sent, and the slice under which it is reported.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';

mkdirSync('tasks', { recursive: true });
for (const split of ['train', 'eval']) {
  const file = new URL(`../../dataset/search_tasks/${split}.jsonl`, import.meta.url);
  const rows = readFileSync(file, 'utf8').trim().split('\n').map(JSON.parse);
  const lines = rows.map(({ task_id, metadata: { slice } }) => JSON.stringify({ task_id, slice }));
  writeFileSync(`tasks/${split}.jsonl`, `${lines.join('\n')}\n`);
}
