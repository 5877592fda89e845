import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { user } from '#agent_rl/core/message.ts';
import { membersOf } from '#agent_rl/core/rollout.ts';
import { showRun, type ShowRunOptions } from '#agent_rl/jobs/show/show-run.ts';
import { trajectoryLine } from '#agent_rl/runs/episodes/trajectory-line.ts';
import { JsonlWriter } from '#agent_rl/telemetry/index.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { member, part, rollout } from '#tests/support/rollouts.ts';

type Sketch = NonNullable<Parameters<typeof member>[0]>;

const folder = temporaryFolder();
const run = join(folder, 'run');
const train = join(run, 'trajectories', 'train.jsonl');

const call = { id: 'call_0_0', name: 'add', arguments: { code: 'a = 1\nprint(a)', n: 2 } };

/** Asks a tool, which answers in red. */
const asked: Sketch = {
  taskId: 'sum-1',
  sample: 0,
  reward: 0.5,
  success: false,
  seed: 7,
  messages: [
    user('What is 1 + 1?'),
    { role: 'assistant', content: 'I ask.', reasoning: 'Add them.', toolCalls: [call] },
    { role: 'tool', name: 'add', callId: call.id, content: '\u001b[31m2' },
    { role: 'assistant', content: 'Two.' },
  ],
  calls: [{ call, status: 'ok', result: { content: '2', data: { sum: 2 } }, wallMs: 12 }],
  components: { solved: 0.5 },
  scores: { environment: 0.5, short: 1 },
  judgedBy: {
    environment: 'sums',
    environmentWeight: 1,
    rewards: [{ name: 'short', weight: 0, tool: undefined }],
  },
  groupReward: {
    manager: 'ranking',
    reward: 0.25,
    components: { weightedSum: 0.5 },
    weights: undefined,
  },
  hiddenInputs: { [call.id]: { answer: 2 } },
};

beforeAll(() => {
  const lines = new JsonlWriter(train);
  const write = (one: Sketch) => lines.write(trajectoryLine(member({ when: 'train', ...one })));
  write({ iteration: 1, taskId: 'old' });
  const duet = ['speaker', 'guesser'].map((agent) => part({ agent }));
  const key = { when: 'train', iteration: 1, slot: 1 } as const;
  for (const one of membersOf(rollout(duet, { ...key, taskId: 'duet' })))
    lines.write(trajectoryLine(one));
  write({ ...asked, iteration: 2 });
  write({ iteration: 2, slot: 1, taskId: 'sum-2', sample: 1, outcome: 'grader-error' });
  lines.close();
  writeBelow(folder, 'sft/config.yaml', 'train: {mode: sft}\n');
  const held = new JsonlWriter(join(run, 'trajectories', 'eval.jsonl'));
  held.write(trajectoryLine(member({ ...asked, when: 'before', iteration: 0 })));
  held.close();
});

const shown = async (options: Partial<ShowRunOptions> = {}): Promise<string> => {
  const printed: string[] = [];
  await showRun({ run, print: (text) => printed.push(text), ...options });
  return printed.join('\n');
};

describe('agent-rl runs show', () => {
  test('lists the agents of an episode, a line each, and shows one or all of them', async () => {
    const [head, , ...lines] = (await shown({ step: 1 })).split('\n');
    expect(head).toBe('Iteration 1: 2 training episodes, one line for each agent');
    expect(lines.slice(0, 2).map((line) => line.split(' ')[0])).toEqual([
      'train/1/0/1/0/speaker',
      'train/1/0/1/0/guesser',
    ]);
    const heads = async (episode: string) =>
      (await shown({ episode })).split('\n').filter((line) => line.startsWith('Episode'));
    expect(await heads('train/1/0/1/0')).toEqual([
      'Episode train/1/0/1/0/speaker of duet',
      'Episode train/1/0/1/0/guesser of duet',
    ]);
    expect(await heads('train/1/0/1/0/guesser')).toEqual(['Episode train/1/0/1/0/guesser of duet']);
  });

  test('lists the episodes of the newest iteration, a line each', async () => {
    const [head, ...lines] = (await shown()).split('\n');
    expect(head).toBe('Iteration 2, the newest: 2 training episodes');
    expect(lines[0]).toMatch(
      /^train\/2\/0\/0\/0 +sum-1 +reward 0\.50 +completed +1 turn +3 tokens$/,
    );
    expect(lines[1]).toMatch(/^train\/2\/0\/1\/1 +sum-2 +no reward +grader-error/);
    expect(lines).toHaveLength(3);
    expect(await shown({ step: 1 })).toContain('train/1/0/0/0');
  });

  test('shows a whole episode so that it can be read', async () => {
    expect(await shown({ episode: 'train/2/0/0/0' })).toBe(`Episode train/2/0/0/0 of sum-1
  reward 0.50, completed, 1 turn, 3 tokens sampled, seed 7
  reward is the sum of solved 0.5
  judged by environment sums, short 1 x 0
  in its group: 0.25 by ranking, from weightedSum 0.5
[user]
  What is 1 + 1?
[assistant, thinking]
  Add them.
[assistant]
  I ask.
[assistant calls add]
  code: a = 1
  print(a)
  n: 2
[add, 12 ms]
  \\x1b[31m2
[assistant]
  Two.`);
  });

  test('shows what the policy could not see only where that is asked for', async () => {
    expect(await shown({ episode: 'train/2/0/0/0' })).not.toContain('answer');
    const all = await shown({ episode: 'train/2/0/0/0', hidden: true });
    expect(all).toContain('[hidden from the policy]');
    expect(all).toMatch(/"answer": 2[^]*"sum": 2/);
  });

  test('shows the worst first, those that failed before all others', async () => {
    const worst = await shown({ worst: 1 });
    expect(worst).toContain('Episode train/2/0/1/1');
    expect(worst).toContain('problem: it broke');
  });

  test('shows held-out episodes, and when they were played', async () => {
    expect(await shown({ episode: 'before/0/0/0/0' })).toContain(
      'Episode before/0/0/0/0 of sum-1 (held out, before training)',
    );
  });

  test.each([
    [{ run: folder }, 'is not a run folder: it has no trajectories/'],
    [{ run: join(folder, 'sft') }, 'has no episodes (trajectories/): it is a supervised run'],
    [{ step: 9 }, 'has no training episode of iteration 9'],
    [
      { episode: 'train/2/0/0/9' },
      'has no episode "train/2/0/0/9"; an id is such as train/3/0/2/1',
    ],
  ])('says what is missing: %j', async (options, problem) => {
    await expect(shown(options)).rejects.toThrow(problem);
  });

  test('leaves out a last line that is cut short, and names any other that cannot be read', async () => {
    appendFileSync(train, '{"taskId": "half');
    expect(await shown()).toContain('train/2/0/1/1');
    appendFileSync(train, '\n{}\n');
    await expect(shown()).rejects.toThrow(/train\.jsonl:6 cannot be read/);
  });
});
