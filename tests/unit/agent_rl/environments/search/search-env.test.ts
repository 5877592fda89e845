import { describe, expect, test } from '@jest/globals';
import { Value } from 'typebox/value';

import type { ExecutedCall, Turn, Verdict } from '#agent_rl/core/plugins/environment.ts';
import type { SearchTask } from '#agent_rl/core/tasks/search-task.ts';
import { SearchEnv } from '#agent_rl/environments/search/search-env.ts';
import { SearchSettings } from '#agent_rl/environments/search/settings.ts';
import { describeEnvironmentContract } from '#tests/contracts/environment-contract.ts';

const task: SearchTask = {
  taskId: 't',
  prompt: 'How high is mount Velmora?',
  answer: '5,895',
  aliases: ['5.9 kilometres'],
  documentIds: ['velmora'],
  documents: [],
  metadata: {},
};

const defaults = Value.Default(SearchSettings, { match: 'contains' }) as SearchSettings;
const make = (settings: Partial<SearchSettings> = {}, of: SearchTask = task): SearchEnv =>
  new SearchEnv({ task: of, settings: { ...defaults, ...settings } });

interface Search {
  query: string;
  found?: string;
  status?: ExecutedCall['status'];
  name?: string;
}

const turnOf = (index: number, searches: readonly Search[], content = ''): Turn => ({
  index,
  message: { role: 'assistant', content },
  calls: searches.map(({ query, found = 'Nothing.', status = 'ok', name = 'search' }, at) => ({
    call: { id: `call_${index}_${at}`, name, arguments: { query } },
    result: { content: found, data: [{ documentId: 'velmora', title: '', text: '', score: 1 }] },
    status,
    wallMs: 1,
  })),
});

/** Plays turns of searches, then says the answer, if there is one. */
type Searches = readonly (readonly Search[])[];
async function play(environment: SearchEnv, turns: Searches, answer?: string) {
  await environment.start();
  for (const [index, searches] of turns.entries()) await environment.step(turnOf(index, searches));
  if (answer === undefined) return environment.finish('turn-limit');
  await environment.step(turnOf(turns.length, [], answer));
  return environment.finish('done');
}

const found: Search = { query: 'height of Velmora', found: 'Velmora is 5895 m high.' };

const winningTurns = [turnOf(0, [found]), turnOf(1, [], 'It is 5895.')];
describeEnvironmentContract('SearchEnv', { plugin: SearchEnv, create: () => make(), winningTurns });

test('the verdict has the answer, without the opening if the answer must be whole', async () => {
  const said = async (settings: Partial<SearchSettings>, answer?: string) =>
    (await play(make(settings), [[found]], answer)).answer;
  expect(await said({ match: 'whole' }, 'It is 5,895.')).toBe('5895');
  expect(await said({ match: 'whole' }, '5895')).toBe('5895');
  expect(await said({}, 'It is 5,895 m')).toBe('it is 5895 m');
  expect(await said({})).toBeUndefined();
});

test.each([
  ['whole', true, ['5895', 'It is 5,895.', '5.9 kilometres']],
  ['whole', false, ['4810 5895 3776', 'not 5895', 'It is 4810 or 5895.', 'It is']],
  ['contains', true, ['It is 5895 metres.', 'About 5.9 kilometres.', 'I think it is 5895 metres.']],
  // Within a longer number and a decimal.
  ['contains', false, ['It is 15895.', 'It is 5895.5.', '']],
] as const)('an answer that must match as %s is right (%j): %j', async (match, right, answers) => {
  for (const answer of answers)
    expect((await play(make({ match }), [[found]], answer)).success).toBe(right);
});

const who = { ...task, prompt: 'Who is mayor?', answer: 'Pelrina', aliases: [] };

test.each([
  ['forfeits the reward', 1, ['Pelrina', 'Pelrinas', "Pelrina's town", 'mayor PELRINAN']],
  ['does not contain it', 0, ['mayor of Pel', 'Velrina', 'Pelrinaburgh']],
])('a query with a form of the answer %s', async (_, quotedAnswer, queries) => {
  for (const query of queries) {
    const verdict = await play(make({}, who), [[{ query, found: 'Mayor: Pelrina' }]], 'Pelrina');
    expect(verdict).toMatchObject({ success: quotedAnswer === 0, metrics: { quotedAnswer } });
  }
});

test('a result that only repeats the call does not allow queries with the answer', async () => {
  const echo: Search = { query: '5895', found: '5895', name: 'calculator' };
  const verdict = await play(make(), [[echo], [{ ...found, query: '5895' }]], '5895');
  expect(verdict).toMatchObject({ success: false, forfeited: true, metrics: { quotedAnswer: 1 } });
});

describe('The prompt of a search episode', () => {
  test('is the question, after a system prompt if the settings have one', async () => {
    const question = { role: 'user', content: task.prompt };
    expect(await make().start()).toEqual([question]);
    const system = { role: 'system', content: 'Search.' };
    expect(await make({ systemPrompt: 'Search.' }).start()).toEqual([system, question]);
  });

  test("omits the task's documents, which only the search tool receives", () => {
    const documents = [{ id: 'a', title: 'A', text: 'A.' }];
    const environment = make({}, { ...task, documents });
    const call = (name: string) => ({ id: 'call_0_0', name, arguments: {} });
    expect(environment.toolInputs(call('search'))).toEqual({ documents });
    expect(environment.toolInputs(call('http'))).toEqual({});
    expect(make().toolInputs(call('search'))).toEqual({});
  });
});

describe('The answer of a search episode', () => {
  test('is never a message with a call', async () => {
    const environment = make();
    await environment.start();
    await environment.step(turnOf(0, [found], 'It is 5895.'));
    expect((await environment.finish('turn-limit')).success).toBe(false);
  });

  test('is wrong if it exceeds maxAnswerWords', async () => {
    const settings = { maxAnswerWords: 3 };
    expect((await play(make(settings), [[found]], 'It is 5895.')).success).toBe(true);
    const wordy = await play(make(settings), [[found]], 'It is 5895 or 12.');
    expect([wordy.success, wordy.metrics?.['wordyAnswer']]).toEqual([false, 1]);
  });

  test('earns nothing without a search, unless the settings allow it', async () => {
    expect((await play(make(), [], '5895')).reward).toBe(0);
    expect((await play(make({ requireSearch: false }), [], '5895')).reward).toBe(1);
  });
});

describe('The statement that no answer exists', () => {
  const settings = { match: 'whole', absentAnswer: 'not stated' } as const;
  const absences = ({ metrics = {} }: Verdict) =>
    Object.keys(metrics).filter((name) => name.includes('Absent'));
  const nowhere = { ...task, answer: 'not stated', aliases: [], metadata: { absent: true } };

  test.each([
    ['said where it is so', nowhere, 'It is not stated.', [true, { saidAbsentRightly: 1 }]],
    ['not said where it is so', nowhere, 'It is 5895.', [false, { saidAbsentRightly: 0 }]],
    ['said where there is one', task, 'not stated', [false, { saidAbsentWrongly: 1 }]],
    ['not said where there is one', task, 'It is 5895.', [true, { saidAbsentWrongly: 0 }]],
  ] as const)('is counted when it is %s', async (_, of, answer, [success, metrics]) => {
    const verdict = await play(make(settings, of), [[found]], answer);
    expect(verdict).toMatchObject({ success, metrics });
    expect(absences(verdict)).toEqual(Object.keys(metrics));
  });

  test.each([
    ['right', task, '5895', [1]],
    ['wrong', task, '4810', [-4]],
    ['missing', task, undefined, [0]],
    ['said to be absent', task, 'It is not stated.', [0]],
    ['rightly said to be absent', nowhere, 'not stated', [1]],
    ['stated where it is absent', nowhere, '5895', [-4]],
    ['right without a search', task, '5895', [-4, []]],
    ['said to be absent without a search', nowhere, 'not stated', [0, []]],
  ] as const)(
    'costs nothing where a wrong answer has a penalty; the answer is %s',
    async (_, of, answer, [reward, turns = [[found]]]) => {
      const verdict = await play(make({ ...settings, wrongAnswerPenalty: 4 }, of), turns, answer);
      expect(verdict.reward).toBe(reward);
      expect(verdict.components).toMatchObject(reward < 0 ? { wrongAnswer: -4 } : {});
    },
  );

  test('is only counted if the settings define it', async () => {
    const verdict = await play(make({}, nowhere), [[found]], 'It is not stated.');
    expect(absences(verdict)).toEqual([]);
  });
});

const guess: Search = { query: 'is Velmora 5,895 high', found: 'Velmora is 5895 m high.' };
const check: Search = { query: 'mountains of 5895 metres' };
const failed: Search = { query: 'height', found: 'Error: 5895 is no host', status: 'error' };
const asked = { ...task, prompt: 'Is it 12 or 5895?' };

test.each([
  ['before the question or a result shows it', task, [[guess]], false],
  ['after a search showed it', task, [[found], [check]], true],
  ['in the same turn as the search that shows it', task, [[found, check]], false],
  ['after another tool showed it', task, [[{ ...found, name: 'open_page' }], [check]], true],
  ['that is in the question', asked, [[{ query: '12 or 5895' }]], true],
  ['after a failed search showed it', task, [[failed], [{ query: '5895' }]], false],
])(
  'Quoting the answer in a query %s is allowed or forfeits the reward',
  async (_, of, turns, isAllowed) => {
    const { success, reward, metrics } = await play(make({}, of), turns, '5895');
    expect([success, reward]).toEqual([isAllowed, isAllowed ? 1 : 0]);
    expect(metrics?.['quotedAnswer']).toBe(isAllowed ? 0 : 1);
  },
);

describe('The verdict of a search episode', () => {
  test('has penalties as named parts of the reward', async () => {
    const ofSearches = { freeSearches: 1, searchPenalty: 0.1, repeatPenalty: 0.2 };
    const ofEnds = { noAnswerPenalty: 0.3, timeoutPenalty: 0.4, turnLimitPenalty: 0.5 };
    const settings = { ...ofSearches, ...ofEnds };
    const late: Search = { query: 'Height, of velmora', status: 'timeout' };
    const verdict = await play(make(settings), [[found], [late]]);
    const parts = { searches: -0.1, repeats: -0.2, noAnswer: -0.3, timeout: -0.4, turnLimit: -0.5 };
    expect(verdict.components).toEqual(parts);
    expect(verdict.reward).toBeCloseTo(-1.5, 12);
    expect(verdict.outcome).toBe('truncated-turns');
  });

  test('does not count calls that did not run as searches', async () => {
    const verdict = await play(make(), [[{ query: '5895', status: 'rejected' }], [found]], '5895');
    expect([verdict.success, verdict.metrics?.['searches']]).toEqual([true, 1]);
  });

  test('records the searches with their hits', async () => {
    const { record } = await play(make(), [[found]], '5895');
    const { query } = found;
    const judged = { quotedAnswer: false, repeated: false, foundAnswer: true };
    const search = { query, status: 'ok', documentIds: ['velmora'], ...judged };
    expect(record).toEqual({ search_history: [search] });
  });
});
