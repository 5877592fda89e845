import { describe, expect, test } from '@jest/globals';

import type { ExecutedCall, Turn, Verdict } from '#agent_rl/core/plugins/environment.ts';
import type { SearchTask } from '#agent_rl/core/tasks/search-task.ts';
import { SearchEnv } from '#agent_rl/environments/search/search-env.ts';
import type { SearchSettings } from '#agent_rl/environments/search/settings.ts';
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

const defaults: SearchSettings = {
  match: 'contains',
  openings: ['it is'],
  maxAnswerWords: 40,
  successReward: 1,
  requireSearch: true,
  searchPenalty: 0,
  freeSearches: 2,
  repeatPenalty: 0,
  noAnswerPenalty: 0,
  timeoutPenalty: 0,
  turnLimitPenalty: 0,
};

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
async function play(
  environment: SearchEnv,
  turns: readonly (readonly Search[])[],
  answer?: string,
): Promise<Verdict> {
  await environment.start();
  for (const [index, searches] of turns.entries()) await environment.step(turnOf(index, searches));
  if (answer === undefined) return environment.finish('turn-limit');
  await environment.step(turnOf(turns.length, [], answer));
  return environment.finish('done');
}

const found: Search = { query: 'height of Velmora', found: 'Velmora is 5895 m high.' };

describeEnvironmentContract('SearchEnv', {
  plugin: SearchEnv,
  create: () => make(),
  winningTurns: [turnOf(0, [found]), turnOf(1, [], 'It is 5895.')],
});

test('says what was answered, without the opening where the answer must be whole', async () => {
  const said = async (settings: Partial<SearchSettings>, answer?: string) =>
    (await play(make(settings), [[found]], answer)).answer;
  expect(await said({ match: 'whole' }, 'It is 5,895.')).toBe('5895');
  expect(await said({ match: 'whole' }, '5895')).toBe('5895');
  expect(await said({}, 'It is 5,895 m')).toBe('it is 5895 m');
  expect(await said({})).toBeUndefined();
});

describe('an answer that must be whole', () => {
  const whole = { match: 'whole' } as const;

  test.each([
    ['5895', true],
    ['It is 5,895.', true],
    ['5.9 kilometres', true],
    ['4810 5895 3776', false],
    ['not 5895', false],
    ['It is 4810 or 5895.', false],
    ['It is', false],
  ])('%s is right: %s', async (answer, right) => {
    expect((await play(make(whole), [[found]], answer)).success).toBe(right);
  });

  test('may stand in a sentence otherwise', async () => {
    expect((await play(make(), [[found]], 'I think it is 5895 metres.')).success).toBe(true);
  });
});

describe('a query that holds a form of the answer', () => {
  const who = { ...task, prompt: 'Who is mayor?', answer: 'Pelrina', aliases: [] };

  test.each(['Pelrina', 'Pelrinas', "Pelrina's town", 'mayor PELRINAN'])('%s', async (query) => {
    const verdict = await play(make({}, who), [[{ query, found: 'Mayor: Pelrina' }]], 'Pelrina');
    expect(verdict).toMatchObject({ success: false, metrics: { quotedAnswer: 1 } });
  });

  test.each(['mayor of Pel', 'Velrina', 'Pelrinaburgh'])('%s is none', async (query) => {
    const verdict = await play(make({}, who), [[{ query, found: 'Mayor: Pelrina' }]], 'Pelrina');
    expect(verdict).toMatchObject({ success: true, metrics: { quotedAnswer: 0 } });
  });
});

test('a result that repeats the call does not count as a find: the answer may not be searched after it', async () => {
  const echo: Search = { query: '5895', found: '5895', name: 'calculator' };
  const verdict = await play(make(), [[echo], [{ ...found, query: '5895' }]], '5895');
  expect(verdict).toMatchObject({ success: false, forfeited: true, metrics: { quotedAnswer: 1 } });
});

describe('what is shown', () => {
  test('the policy is given the question alone', async () => {
    expect(await make().start()).toEqual([{ role: 'user', content: task.prompt }]);
  });

  test('a system prompt comes first when there is one', async () => {
    const [first] = await make({ systemPrompt: 'Search.' }).start();
    expect(first).toEqual({ role: 'system', content: 'Search.' });
  });

  test('documents of the task go to the search tool and to no other', () => {
    const documents = [{ id: 'a', title: 'A', text: 'A.' }];
    const environment = make({}, { ...task, documents });
    const call = (name: string) => ({ id: 'call_0_0', name, arguments: {} });
    expect(environment.toolInputs(call('search'))).toEqual({ documents });
    expect(environment.toolInputs(call('http'))).toEqual({});
    expect(make().toolInputs(call('search'))).toEqual({});
  });
});

describe('what counts as an answer', () => {
  test.each([
    ['the number in another form', 'It is 5895 metres.', true],
    ['an alias', 'About 5.9 kilometres.', true],
    ['the number inside a longer one', 'It is 15895.', false],
    ['the number inside a decimal', 'It is 5895.5.', false],
    ['nothing', '', false],
  ])('%s', async (_, answer, success) => {
    expect((await play(make(), [[found]], answer)).success).toBe(success);
  });

  test('a message with a call is not an answer, whatever it says', async () => {
    const environment = make();
    await environment.start();
    await environment.step(turnOf(0, [found], 'It is 5895.'));
    expect((await environment.finish('turn-limit')).success).toBe(false);
  });

  test('a message longer than maxAnswerWords is wrong', async () => {
    const settings = { maxAnswerWords: 3 };
    expect((await play(make(settings), [[found]], 'It is 5895.')).success).toBe(true);
    const wordy = await play(make(settings), [[found]], 'It is 5895 or 12.');
    expect([wordy.success, wordy.metrics?.['wordyAnswer']]).toEqual([false, 1]);
  });

  test('a right guess without a search earns nothing unless that is allowed', async () => {
    expect((await play(make(), [], '5895')).reward).toBe(0);
    expect((await play(make({ requireSearch: false }), [], '5895')).reward).toBe(1);
  });
});

describe('an answer that is stated nowhere', () => {
  const settings = { match: 'whole', absentAnswer: 'not stated' } as const;
  const nowhere = { ...task, answer: 'not stated', aliases: [], metadata: { absent: true } };

  test.each([
    ['said where it is so', nowhere, 'It is not stated.', [true, { saidAbsentRightly: 1 }]],
    ['not said where it is so', nowhere, 'It is 5895.', [false, { saidAbsentRightly: 0 }]],
    ['said where there is one', task, 'not stated', [false, { saidAbsentWrongly: 1 }]],
    ['not said where there is one', task, 'It is 5895.', [true, { saidAbsentWrongly: 0 }]],
  ] as const)('%s', async (_, of, answer, [success, metrics]) => {
    const verdict = await play(make(settings, of), [[found]], answer);
    expect(verdict).toMatchObject({ success, metrics });
    expect(Object.keys(verdict.metrics ?? {}).filter((name) => /Absent/u.test(name))).toEqual(
      Object.keys(metrics),
    );
  });

  test('is counted nowhere unless the setting says how it is said', async () => {
    const { metrics = {} } = await play(make({}, nowhere), [[found]], 'It is not stated.');
    expect(Object.keys(metrics).filter((name) => /Absent/u.test(name))).toEqual([]);
  });
});

describe('quoting the answer in a query', () => {
  test('earns nothing before anything showed it', async () => {
    const guess: Search = { query: 'is Velmora 5,895 high', found: 'Velmora is 5895 m high.' };
    const verdict = await play(make(), [[guess]], 'It is 5895.');
    expect([verdict.success, verdict.reward]).toEqual([false, 0]);
    expect(verdict.metrics?.['quotedAnswer']).toBe(1);
  });

  test('is allowed once a search showed it', async () => {
    const check: Search = { query: 'mountains of 5895 metres' };
    expect((await play(make(), [[found], [check]], '5895')).success).toBe(true);
  });

  test('is one in the same turn as the search that shows it: its result had not been seen', async () => {
    const check: Search = { query: 'mountains of 5895 metres' };
    expect((await play(make(), [[found, check]], '5895')).success).toBe(false);
  });

  test('is allowed when another tool showed it', async () => {
    const page: Search = { ...found, name: 'open_page' };
    const check: Search = { query: 'mountains of 5895 metres' };
    expect((await play(make(), [[page], [check]], '5895')).success).toBe(true);
  });

  test('is allowed when the question holds it', async () => {
    const asked = { ...task, prompt: 'Is it 12 or 5895?' };
    expect((await play(make({}, asked), [[{ query: '12 or 5895' }]], '5895')).success).toBe(true);
  });

  test('is one when the search that showed it had failed', async () => {
    const failed: Search = { query: 'height', found: 'Error: 5895 is no host', status: 'error' };
    expect((await play(make(), [[failed], [{ query: '5895' }]], '5895')).success).toBe(false);
  });
});

describe('what reaches the trainer', () => {
  test('penalties are part of the reward and named', async () => {
    const settings = {
      freeSearches: 1,
      searchPenalty: 0.1,
      repeatPenalty: 0.2,
      noAnswerPenalty: 0.3,
      timeoutPenalty: 0.4,
      turnLimitPenalty: 0.5,
    };
    const late: Search = { query: 'Height, of velmora', status: 'timeout' };
    const verdict = await play(make(settings), [[found], [late]]);
    expect(verdict.components).toEqual({
      searches: -0.1,
      repeats: -0.2,
      noAnswer: -0.3,
      timeout: -0.4,
      turnLimit: -0.5,
    });
    expect(verdict.reward).toBeCloseTo(-1.5, 12);
    expect(verdict.outcome).toBe('truncated-turns');
  });

  test('calls that never ran do not count as searches', async () => {
    const verdict = await play(make(), [[{ query: '5895', status: 'rejected' }], [found]], '5895');
    expect([verdict.success, verdict.metrics?.['searches']]).toEqual([true, 1]);
  });

  test('the history of searches is kept, with what each found', async () => {
    const { record } = await play(make(), [[found]], '5895');
    expect(record).toEqual({
      search_history: [
        {
          query: 'height of Velmora',
          status: 'ok',
          documentIds: ['velmora'],
          quotedAnswer: false,
          repeated: false,
          foundAnswer: true,
        },
      ],
    });
  });
});
