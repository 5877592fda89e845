import { expect, test } from '@jest/globals';

import { tallyEpisodes } from '#agent_rl/runs/signs/run-evidence.ts';
import type { EpisodeRecord } from '#agent_rl/runs/episodes/read-episodes.ts';
import { learnedRecord } from '#agent_rl/runs/episodes/learned-record.ts';
import type { RecordedPart } from '#agent_rl/runs/query/parts.ts';
import { episodeRecord } from '#agent_rl/runs/episodes/episode-record.ts';
import { learnedPart } from '#tests/support/recorded-folder.ts';
import { member } from '#tests/support/rollouts.ts';

type Change = Parameters<typeof member>[0] & { said?: string };

const call = { id: 'call_0_0', name: 'add', arguments: { a: 1 } };
const ran = (status: 'ok' | 'rejected') => ({ call, status, result: { content: '2' }, wallMs: 1 });

const recorded = (sample: number, { said = '', ...change }: Change = {}): EpisodeRecord => {
  const messages = [{ role: 'assistant', content: said }] as const;
  const place = { when: 'train', iteration: 1, sample } as const;
  return episodeRecord(member({ ...place, reward: 1, messages, ...change }));
};

async function* those(parts: readonly RecordedPart[]): AsyncGenerator<readonly RecordedPart[]> {
  yield parts;
}

test('episodes are counted by kind, and the newest of each kind is an example', async () => {
  const episodes = [
    recorded(0, { said: '<tool_call>{"name": "add"}</tool_call>', success: false, reward: 0 }),
    recorded(1, { said: 'Two.' }),
    recorded(2, { said: '' }),
    recorded(3, { said: 'Two.', calls: [ran('ok')] }),
    recorded(4, { said: 'Two.', calls: [ran('rejected')], success: false, reward: -1 }),
    recorded(5, { said: 'Two.', reward: undefined, success: false, outcome: 'grader-error' }),
    recorded(6, { learns: false, reward: 99 }),
  ];
  const tally = await tallyEpisodes(those(episodes.map((episode) => ({ episode }))));
  expect(tally).toMatchObject({
    unit: 'episode',
    scored: 5,
    solved: 3,
    // What looks like a call, `Two.` by itself, nothing, and twice `Two.` as well: calls are in the record of tools.
    different: 3,
    tasks: 1,
    reward: { count: 5, least: -1, most: 1 },
    unread: 1,
    solvedWithoutCall: 2,
    paidForNothing: 1,
    learnedRecorded: false,
  });
  expect(Object.fromEntries(tally.examples)).toMatchObject({
    unread: 'train/1/0/0/0',
    'paid for nothing': 'train/1/0/0/2',
    'solved without call': 'train/1/0/0/2',
    rejected: 'train/1/0/0/4',
    unsolved: 'train/1/0/0/4',
    failed: 'train/1/0/0/5',
  });
});

test('parts are counted where several agents learn, and one without a turn is not paid for silence', async () => {
  const forfeit = { agent: 'guesser', messages: [], sequences: [] };
  const parts = [recorded(0, { agent: 'speaker', said: 'Two.' }), recorded(0, forfeit)];
  const tally = await tallyEpisodes(those(parts.map((episode) => ({ episode }))));
  expect(tally).toMatchObject({ unit: 'part', scored: 2, paidForNothing: 0 });
});

test('prompts differ where questions do, whether or not a system message is the same for all', async () => {
  const asked = (sample: number, question: string) => {
    const system = { role: 'system', content: 'Answer.' } as const;
    const messages = [system, { role: 'user', content: question } as const];
    return { episode: recorded(sample, { messages }) };
  };
  const parts = [
    asked(0, 'What is 2 + 3?'),
    asked(1, 'What is 4 + 9?'),
    asked(2, 'What is 2 + 3?'),
  ];
  expect((await tallyEpisodes(those(parts))).prompts).toBe(2);
  // An agent may be asked by its system message alone.
  const alone = ['Greet.', 'Leave.'].map((content, sample) => ({
    episode: recorded(sample, { messages: [{ role: 'system', content }] }),
  }));
  expect((await tallyEpisodes(those(alone))).prompts).toBe(2);
});

test('masked tokens are counted by outcome, and rewards are those that groups are compared by', async () => {
  const episode = recorded(0, {
    outcome: 'truncated-turns',
    groupReward: { manager: 'm', reward: 7, components: undefined, weights: undefined },
  });
  const learned = learnedRecord(learnedPart({ iteration: 1, use: 'masked' }));
  const tally = await tallyEpisodes(those([{ episode, learned }]));
  expect([...tally.masked]).toEqual([['truncated-turns', 3]]);
  expect(tally.reward).toEqual({ count: 1, least: 7, most: 7 });
  expect(tally.examples.get('masked')).toBe('train/1/0/0/0');
});
