import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import type { ErrorCode } from '#agent_rl/core/errors.ts';
import { user } from '#agent_rl/core/message.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import type { JournalEvent } from '#agent_rl/core/services/journal.ts';
import { demonstrations, type DemonstrationsOptions } from '#agent_rl/jobs/show/demonstrations.ts';
import { showRun, type ShowRunOptions } from '#agent_rl/jobs/show/show-run.ts';
import { writeToolFile } from '#agent_rl/jobs/token-files/tool-file.ts';
import { frameOf } from '#agent_rl/runs/journal/event-frame.ts';
import { rolloutEvent } from '#agent_rl/runs/journal/rollout-event.ts';
import { readConversations } from '#dataset/demonstrations/conversations.ts';
import { damageEvent, writeJournal } from '#tests/support/journal.ts';
import {
  episodeEvent,
  record,
  type RecordedEpisode,
  recordedFolder,
} from '#tests/support/recorded-folder.ts';
import { type member, part, rollout } from '#tests/support/rollouts.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { expectRejection } from '#tests/support/thrown.ts';

type Sketch = NonNullable<Parameters<typeof member>[0]>;

const folder = temporaryFolder();
const shownRun = recordedFolder(folder, 'shown');

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

let journal = '';

beforeAll(() => {
  const duet = ['speaker', 'guesser'].map((agent) => part({ agent }));
  const key = { when: 'train', iteration: 1, slot: 1, taskId: 'duet' } as const;
  journal = record(
    shownRun,
    episodeEvent({ ...asked, when: 'before', iteration: 0 }),
    episodeEvent({ iteration: 1, taskId: 'old' }),
    rolloutEvent(rollout(duet, key), []),
    // They end in any order.
    episodeEvent({ iteration: 2, slot: 1, taskId: 'sum-2', sample: 1, outcome: 'grader-error' }),
    episodeEvent({ ...asked, iteration: 2 }),
  );
  writeBelow(folder, 'sft/config.yaml', 'train: {mode: sft}\n');
  mkdirSync(join(folder, 'earlier', 'trajectories'), { recursive: true });
});

const shown = async (options: Partial<ShowRunOptions> = {}): Promise<string> => {
  const printed: string[] = [];
  await showRun({ run: shownRun.path, print: (text) => printed.push(text), ...options });
  return printed.join('\n');
};

describe('agent-rl runs show', () => {
  test('lists the agents of an episode, a line each, and shows one or all of them', async () => {
    const [head, , ...lines] = (await shown({ step: 1 })).split('\n');
    expect(head).toBe('Iteration 1: 2 training episodes, one line for each agent');
    const duet = 'train/1/0/1/0';
    const names = lines.slice(0, 2).map((line) => line.split(' ')[0]);
    expect(names).toEqual([`${duet}/speaker`, `${duet}/guesser`]);
    const heads = async (episode: string) =>
      (await shown({ episode })).split('\n').filter((line) => line.startsWith('Episode'));
    const titles = names.map((name) => `Episode ${name} of duet`);
    expect(await heads(duet)).toEqual(titles);
    expect(await heads(`${duet}/guesser`)).toEqual(titles.slice(1));
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
  reward within its group: 0.25, computed by reward manager ranking, from weightedSum 0.5
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
    const text = await shown({ episode: 'before/0/0/0/0' });
    expect(text).toContain('before/0/0/0/0 of sum-1 (held out, before training)');
  });

  test.each([
    [{ run: folder }, 'is not a run folder: it has no journal/'],
    [{ run: join(folder, 'sft') }, 'has no episodes (journal/): it ended before its first'],
    [{ run: join(folder, 'earlier') }, 'was recorded by an earlier version (trajectories/ instead'],
    [{ step: 9 }, 'has no training episode of iteration 9'],
    [{ episode: 'train/2/0/0/9' }, 'has no episode "train/2/0/0/9". To list the ids'],
  ])('says what is missing: %j', async (options, problem) => {
    await expect(shown(options)).rejects.toThrow(problem);
  });

  test('leaves out an event that is cut short, and names any other that cannot be read', async () => {
    const half = frameOf({ seq: 99, ...episodeEvent({ iteration: 3 }) }).subarray(0, 99);
    appendFileSync(journal, half);
    expect(await shown()).toContain('train/2/0/1/1');
    const offset = damageEvent(journal, 2);
    const problem = `${journal}: the event at byte ${offset}: its checksum does not match`;
    await expect(shown()).rejects.toThrow(problem);
  });
});

const recorded = recordedFolder(folder, 'run');
const run = recorded.path;

const said = (answer: string, of: Omit<RecordedEpisode, 'messages'>): JournalEvent =>
  episodeEvent({ messages: [user('Count.'), { role: 'assistant', content: answer }], ...of });
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
    said('one', { ...first, taskId: 'a', slot: 0, reward: 0.5 }),
    said('two', { ...first, taskId: 'a', slot: 1 }),
    said('three', { ...first, taskId: 'b', slot: 2, success: false }),
    said('four', { ...first, taskId: 'b', slot: 3, outcome: 'grader-error' }),
    said('fi', { ...first, taskId: 'b', slot: 4, outcome: 'truncated-tokens' }),
    said('six', { ...first, taskId: 'b', slot: 5, malformedCalls: 1 }),
    episodeEvent({ ...first, slot: 6, messages: [] }),
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
    const parts = ['speaker', 'guesser'].map((agent) => {
      const messages = [user('Count.'), { role: 'assistant', content: agent } as const];
      return part({ agent, messages, reward: 1 });
    });
    writeJournal(both, { rollouts: [rollout(parts, { when: 'train', iteration: 1 })] });
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
