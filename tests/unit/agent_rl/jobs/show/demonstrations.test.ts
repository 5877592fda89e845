import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { user } from '#agent_rl/core/message.ts';
import type { ErrorCode } from '#agent_rl/core/errors.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { demonstrations, type DemonstrationsOptions } from '#agent_rl/jobs/show/demonstrations.ts';
import { writeToolFile } from '#agent_rl/jobs/token-files/tool-file.ts';
import { readConversations } from '#dataset/demonstrations/conversations.ts';
import {
  episodeLine,
  record,
  recordedFolder,
  type RecordedEpisode,
} from '#tests/support/recorded-folder.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { expectRejection } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
const recorded = recordedFolder(folder, 'run');
const run = recorded.path;

const said = (answer: string, of: Omit<RecordedEpisode, 'messages'>): string =>
  episodeLine({ messages: [user('Count.'), { role: 'assistant', content: answer }], ...of });
const tool = { name: 'code_exec', description: 'Runs Python.', parameters: { type: 'object' } };

beforeAll(() => {
  cpSync(join(packageRoot(), 'configs', 'code_exec_grpo.yaml'), recorded.config);
  writeToolFile(join(run, 'tools.json'), [tool]);
  const [first, second] = [
    { iteration: 1, reward: 1 },
    { iteration: 2, reward: 1 },
  ];
  record(
    recorded,
    'train',
    said('one', { ...first, taskId: 'a', slot: 0, reward: 0.5 }),
    said('two', { ...first, taskId: 'a', slot: 1 }),
    said('three', { ...first, taskId: 'b', slot: 2, success: false }),
    said('four', { ...first, taskId: 'b', slot: 3, outcome: 'grader-error' }),
    said('fi', { ...first, taskId: 'b', slot: 4, outcome: 'truncated-tokens' }),
    said('six', { ...first, taskId: 'b', slot: 5, malformedCalls: 1 }),
    episodeLine({ ...first, slot: 6, messages: [] }),
    said('two', { ...second, taskId: 'c', slot: 7 }),
    said('eight', { ...second, taskId: 'c', slot: 8, reward: 0.2 }),
  );
});

let files = 0;

const written = async (options: Partial<DemonstrationsOptions>) => {
  const output = join(folder, `out-${++files}`, 'train.jsonl');
  const printed: string[] = [];
  const print = (text: string) => printed.push(text);
  const { signal } = new AbortController();
  const result = await demonstrations({ run, output, signal, print, ...options });
  const rows = await readConversations(output);
  return {
    result,
    printed: printed.join('\n'),
    rows,
    answers: rows.map(({ messages }) => messages.at(-1)?.content),
  };
};

describe('agent-rl runs demonstrations', () => {
  test('writes the different episodes that succeeded, and says what was left out and why', async () => {
    const { answers, printed, result } = await written({ success: true });
    expect(answers).toEqual(['one', 'two', 'eight']);
    expect(printed).toContain(`6 of 9 training episodes were left out:
  1 failed and were not scored
  1 have no turn by the policy
  1 did not succeed (--success)
  1 end in a truncated turn
  1 have malformed tool calls
  1 are duplicates`);
    expect(result).toMatchObject({ episodes: 9, demonstrations: 3, tasks: 2 });
    const dir = join(String(result['output']), '..');
    expect(printed).toContain(
      `sft --config ${join(run, 'config.yaml')} --dataset-dir ${dir} --train`,
    );
  });

  test('calls what it counts parts where several agents played', async () => {
    const both = join(folder, 'both');
    cpSync(run, both, { recursive: true });
    const parts = ['speaker', 'guesser'].map((agent) =>
      said(agent, { iteration: 1, agent, reward: 1 }),
    );
    writeBelow(both, 'trajectories/train.jsonl', parts.join(''));
    const { printed } = await written({ run: both, minReward: 1 });
    expect(printed).toContain('All 2 parts were taken.');
  });

  test.each([
    ['with enough reward, solved or not', { minReward: 0.6 }, ['two', 'three']],
    ['of one iteration', { success: true, step: 2 }, ['two', 'eight']],
    ['that are the best of a task', { success: true, perTask: 1 }, ['two', 'eight']],
  ])('takes those %s', async (_, options, expected) => {
    const { answers, printed } = await written(options);
    expect(answers).toEqual(expected);
    expect(printed.includes('1 are beyond the best of their task')).toBe('perTask' in options);
  });

  test('gives each the tools of its run and the place it comes from', async () => {
    const { rows, result } = await written({ success: true, perTask: 1 });
    expect(rows[0]?.tools?.map(({ name }) => name)).toEqual(['code_exec']);
    const [line = ''] = readFileSync(String(result['output']), 'utf8').split('\n');
    expect(JSON.parse(line)).toMatchObject({
      metadata: { run: 'run', episode: 'train/1/0/1/0', reward: 1 },
    });
  });

  test.each<[Partial<DemonstrationsOptions>, ErrorCode, string]>([
    [{}, 'CONFIG_INVALID', 'give --success, --min-reward NUMBER, or both'],
    [{ minReward: 2 }, 'CONFIG_INVALID', 'has no such episodes: 9 of 9 training episodes'],
    [{ success: true, run: folder }, 'CHECKPOINT_INVALID', 'is not a run'],
    [{ success: true, output: join(run, 'config.yaml') }, 'OUTPUT_UNWRITABLE', 'exists'],
  ])('refuses %j and writes nothing', async (options, code, message) => {
    await expectRejection(written(options), code, message);
    expect(existsSync(join(folder, `out-${files}`))).toBe(false);
  });
});
