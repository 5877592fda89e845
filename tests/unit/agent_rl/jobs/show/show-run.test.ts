import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { user } from '#agent_rl/core/message.ts';
import { type Member, membersOf } from '#agent_rl/core/rollout.ts';
import { showRun, type ShowRunOptions } from '#agent_rl/jobs/show/show-run.ts';
import { trajectoryLine } from '#agent_rl/runs/episodes/trajectory-line.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { episodeLine, record, recordedFolder } from '#tests/support/recorded-folder.ts';
import { type member, part, rollout } from '#tests/support/rollouts.ts';

type Sketch = NonNullable<Parameters<typeof member>[0]>;

const folder = temporaryFolder();
const run = recordedFolder(folder, 'run');

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

const lineOf = (one: Member): string => `${JSON.stringify(trajectoryLine(one))}\n`;

beforeAll(() => {
  const duet = ['speaker', 'guesser'].map((agent) => part({ agent }));
  const key = { when: 'train', iteration: 1, slot: 1, taskId: 'duet' } as const;
  record(
    run,
    'train',
    episodeLine({ iteration: 1, taskId: 'old' }),
    ...membersOf(rollout(duet, key)).map(lineOf),
    episodeLine({ ...asked, iteration: 2 }),
    episodeLine({ iteration: 2, slot: 1, taskId: 'sum-2', sample: 1, outcome: 'grader-error' }),
  );
  record(run, 'eval', episodeLine({ ...asked, when: 'before', iteration: 0 }));
  writeBelow(folder, 'sft/config.yaml', 'train: {mode: sft}\n');
});

const shown = async (options: Partial<ShowRunOptions> = {}): Promise<string> => {
  const printed: string[] = [];
  await showRun({ run: run.path, print: (text) => printed.push(text), ...options });
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
    const episode = 'train/2/0/0/0';
    expect(await shown({ episode })).not.toContain('answer');
    expect(await shown({ episode, hidden: true })).toMatch(
      /\[hidden from the policy\][^]*"answer": 2[^]*"sum": 2/,
    );
  });

  test('shows the worst first, those that failed before all others', async () => {
    expect(await shown({ worst: 1 })).toMatch(/Episode train\/2\/0\/1\/1 [^]*problem: it broke/);
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
    [{ episode: 'train/2/0/0/9' }, 'has no episode "train/2/0/0/9"; an id is such as'],
  ])('says what is missing: %j', async (options, problem) => {
    await expect(shown(options)).rejects.toThrow(problem);
  });

  test('leaves out a last line that is cut short, and names any other that cannot be read', async () => {
    record(run, 'train', '{"taskId": "half');
    expect(await shown()).toContain('train/2/0/1/1');
    record(run, 'train', '\n{}\n');
    await expect(shown()).rejects.toThrow(/train\.jsonl:6 cannot be read/);
  });
});
