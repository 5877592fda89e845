import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { type Message, user } from '#agent_rl/core/message.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { demonstrations, type DemonstrationsOptions } from '#agent_rl/jobs/show/demonstrations.ts';
import { writeToolFile } from '#agent_rl/jobs/token-files/tool-file.ts';
import { trajectoryLine } from '#agent_rl/runs/episodes/trajectory-line.ts';
import { JsonlWriter } from '#agent_rl/telemetry/index.ts';
import { readConversations } from '#dataset/demonstrations/conversations.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';
import { member } from '#tests/support/rollouts.ts';

const folder = temporaryFolder();
const run = join(folder, 'run');

const said = (content: string): readonly Message[] => [
  user('Count.'),
  { role: 'assistant', content },
];
type Sketch = NonNullable<Parameters<typeof member>[0]>;
const episode = (sketch: Sketch, content: string): Sketch => ({
  messages: said(content),
  ...sketch,
});

beforeAll(() => {
  const config = join(packageRoot(), 'configs', 'code_exec_grpo.yaml');
  writeBelow(folder, 'run/config.yaml', readFileSync(config, 'utf8'));
  const tool = { name: 'code_exec', description: 'Runs Python.', parameters: { type: 'object' } };
  writeToolFile(join(run, 'tools.json'), [tool]);
  const lines = new JsonlWriter(join(run, 'trajectories', 'train.jsonl'));
  let slot = 0;
  const write = (iteration: number, one: Sketch) =>
    lines.write(trajectoryLine(member({ when: 'train', iteration, slot: slot++, ...one })));
  write(1, episode({ taskId: 'a', reward: 0.5 }, 'one'));
  write(1, episode({ taskId: 'a', reward: 1 }, 'two'));
  write(1, episode({ taskId: 'b', reward: 1, success: false }, 'three'));
  write(1, episode({ taskId: 'b', outcome: 'grader-error' }, 'four'));
  write(1, episode({ taskId: 'b', reward: 1, outcome: 'truncated-tokens' }, 'fi'));
  write(1, episode({ taskId: 'b', reward: 1, malformedCalls: 1 }, 'six'));
  write(1, { ...episode({ reward: 1 }, 'seven'), messages: [] });
  write(2, episode({ taskId: 'c', reward: 1 }, 'two'));
  write(2, episode({ taskId: 'c', reward: 0.2 }, 'eight'));
  lines.close();
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
  });

  test('calls what it counts parts where several agents played', async () => {
    const both = join(folder, 'both');
    for (const file of ['config.yaml', 'tools.json'])
      writeBelow(both, file, readFileSync(join(run, file), 'utf8'));
    const lines = new JsonlWriter(join(both, 'trajectories', 'train.jsonl'));
    for (const agent of ['speaker', 'guesser'])
      lines.write(
        trajectoryLine(
          member({ when: 'train', iteration: 1, agent, ...episode({ reward: 1 }, agent) }),
        ),
      );
    lines.close();
    const { printed } = await written({ run: both, minReward: 1 });
    expect(printed).toContain('All 2 parts were taken.');
  });

  test('takes those with enough reward, solved or not', async () => {
    const { answers } = await written({ minReward: 0.6 });
    expect(answers).toEqual(['two', 'three']);
  });

  test('takes the best of a task where that is asked for', async () => {
    const { answers, printed } = await written({ success: true, perTask: 1 });
    expect(answers).toEqual(['two', 'eight']);
    expect(printed).toContain('1 are beyond the best of their task (--per-task)');
  });

  test('takes the episodes of one iteration', async () => {
    expect((await written({ success: true, step: 2 })).answers).toEqual(['two', 'eight']);
  });

  test('gives each the tools of its run and the place it comes from', async () => {
    const { rows, result } = await written({ success: true, perTask: 1 });
    expect(rows[0]?.tools?.map(({ name }) => name)).toEqual(['code_exec']);
    const [line = ''] = readFileSync(String(result['output']), 'utf8').split('\n');
    expect(JSON.parse(line)).toMatchObject({
      metadata: { run: 'run', episode: 'train/1/0/1/0', reward: 1 },
    });
  });

  test('says how to imitate them', async () => {
    const { printed, result } = await written({ success: true });
    const dir = join(String(result['output']), '..');
    expect(printed).toContain(
      `agent-rl sft --config ${join(run, 'config.yaml')} --dataset-dir ${dir} --train-split train`,
    );
  });

  test.each([
    [{}, 'CONFIG_INVALID', 'give --success, --min-reward NUMBER, or both'],
    [{ minReward: 2 }, 'CONFIG_INVALID', 'has no such episodes: 9 of 9 training episodes'],
    [{ success: true, run: folder }, 'CHECKPOINT_INVALID', 'is not a run'],
    [{ success: true, output: join(run, 'config.yaml') }, 'OUTPUT_UNWRITABLE', 'exists'],
  ])('refuses %j and writes nothing', async (options, code, message) => {
    expect(await rejectionOf(written(options))).toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
    expect(existsSync(join(folder, `out-${files}`))).toBe(false);
  });
});
