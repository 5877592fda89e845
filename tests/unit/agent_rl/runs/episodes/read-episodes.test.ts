import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { batchSchema } from '#agent_rl/core/services/batch.ts';
import { readEpisodes, requireReadable } from '#agent_rl/runs/episodes/read-episodes.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';

const folder = temporaryFolder();

async function tasksRead(...schemas: unknown[]): Promise<string[]> {
  const lines = schemas.map((schema, index) => JSON.stringify({ schema, taskId: `t${index}` }));
  writeBelow(folder, 'trajectories/train.jsonl', `${lines.join('\n')}\n`);
  const tasks: string[] = [];
  const trajectories = join(folder, 'trajectories');
  for await (const { taskId } of readEpisodes({ trajectories }, 'train')) tasks.push(taskId);
  return tasks;
}

describe('The reader of episodes', () => {
  test('reads this schema', async () => {
    expect(await tasksRead(batchSchema, batchSchema, batchSchema)).toEqual(['t0', 't1', 't2']);
  });

  test.each([batchSchema + 1, batchSchema - 1, 1.5, '2', undefined])(
    'refuses schema %j with its place, also in the last line',
    async (schema) => {
      const { code, message } = await rejectionOf(tasksRead(batchSchema, schema));
      expect(code).toBe('DATASET_INVALID');
      const age = schema === batchSchema + 1 ? 'a newer' : 'an older';
      expect(message).toMatch(new RegExp(`^The run was recorded by ${age} version`));
      expect(message).toContain(
        `this version reads ${batchSchema}): ${join(folder, 'trajectories', 'train.jsonl')}:2. `,
      );
    },
  );

  test('finds another schema before a run is continued', async () => {
    const file = writeBelow(folder, 'old/trajectories/eval.jsonl', '{"schema":2,"taskId":"t"}\n');
    const reading = requireReadable({ trajectories: join(folder, 'old', 'trajectories') });
    const refused = errorOf('DATASET_INVALID', `(schema 2; this version reads 3): ${file}:1. `);
    await expect(reading).rejects.toMatchObject(refused);
  });
});
