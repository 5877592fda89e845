import { describe, expect, test } from '@jest/globals';

import type { Turn, Verdict } from '#agent_rl/core/plugins/environment.ts';
import { environments } from '#agent_rl/core/plugins/environment.ts';
import type { WordGameSettings } from '#agent_rl/environments/word-game/settings.ts';
import { WordGameEnv } from '#agent_rl/environments/word-game/word-game-env.ts';
import { makeWordGame } from '#scripts/word-game/word-game-data.ts';
import { describeMultiAgentEnvironmentContract } from '#tests/contracts/multi-agent-environment-contract.ts';

const metadata = { words: ['sea', 'old road', 'Tree'], secret: 'old road' };
const task = { taskId: 't', prompt: 'sea', metadata };
const defaults: WordGameSettings = { maxHintWords: 1, hints: 'shown', successReward: 2 };

const make = (settings: Partial<WordGameSettings> = {}): WordGameEnv =>
  new WordGameEnv({ task, settings: { ...defaults, ...settings } });

const message = (content: string) => ({ role: 'assistant', content }) as const;
const saying = (content: string): Turn => ({ index: 0, message: message(content), calls: [] });

/** Plays a game with a hint and a guess; returns the messages to the guesser. */
async function played(
  hint: string,
  guess: string,
  settings: Partial<WordGameSettings> = {},
): Promise<{ told: string | undefined; verdicts: Record<string, Verdict> }> {
  const game = make(settings);
  await game.start();
  const { done, tell = {} } = await game.step({ ...saying(hint), agent: 'speaker' });
  const told = tell['guesser']?.[0]?.content;
  if (!done) await game.step({ ...saying(guess), agent: 'guesser' });
  return { told, verdicts: await game.finish('done') };
}

describeMultiAgentEnvironmentContract('WordGameEnv', {
  plugin: WordGameEnv,
  create: () => make(),
  winningTurns: { speaker: [saying('stones')], guesser: [saying('old road')] },
  secrets: { guesser: 'Secret: old road' },
});

describe('The word game', () => {
  test('rewards both for the secret word, however it is spelt', async () => {
    for (const guess of ['old road', ' Old Road.', 'OLD-ROAD']) {
      const { verdicts } = await played('stones', guess);
      for (const agent of ['speaker', 'guesser'])
        expect(verdicts[agent]).toMatchObject({ success: true, reward: 2, outcome: 'completed' });
    }
  });

  test.each(['sea', 'old road, sea', 'road', 'an old road', ''])(
    'pays nothing for %j',
    async (guess) => {
      const { verdicts } = await played('stones', guess);
      expect(verdicts['guesser']).toMatchObject({ success: false, reward: 0 });
      expect(verdicts['speaker']).toMatchObject({ success: false, outcome: 'wrong-answer' });
    },
  );

  test.each(['old road', 'OLD-ROAD', 'oldroads', 'tree', 'o.l.d.r.o.a.d', 'two words', '', '!'])(
    'is lost with the hint %j, without a guess',
    async (hint) => {
      const { told, verdicts } = await played(hint, 'old road');
      expect(told).toBeUndefined();
      expect(verdicts['speaker']).toMatchObject({ reward: 0, metrics: { brokeRules: 1 } });
      expect(verdicts['guesser']?.reward).toBe(0);
    },
  );

  test.each([
    ['a longer hint that the settings allow', { maxHintWords: 2 }, 'many stones', 'many stones'],
    ['no hint in the control', { hints: 'blank' }, 'stones', ''],
  ] as const)('tells the guesser %s', async (_, settings, hint, shown) => {
    const { told } = await played(hint, 'sea', settings);
    expect(told).toBe(`Words: sea, old road, Tree. Hint: ${shown}. Which word is it?`);
  });

  test('counts guesses of words that are not on the table', async () => {
    const { verdicts } = await played('stones', 'path');
    expect(verdicts['guesser']?.metrics).toEqual({ saidAnotherWord: 1 });
  });

  test.each([
    [{}, 'it needs words'],
    [{ words: ['a'], secret: 'a' }, 'two or more'],
    [{ words: ['a', 'A!'], secret: 'a' }, 'distinct words'],
    [{ words: ['a', '?'], secret: 'a' }, 'a letter or digit'],
    [{ words: ['a', 'b'], secret: 'c' }, '"c" is not among its words'],
  ])('refuses a task with %j', (wrong, problem) => {
    const given = { ...task, metadata: wrong };
    const found = environments.specOf(WordGameEnv)?.taskProblem?.(given, {});
    expect(found).toContain(problem);
    expect(environments.specOf(WordGameEnv)?.taskProblem?.(task, {})).toBeUndefined();
  });
});

test('The data of the word game contains no duplicates, and only valid hints', async () => {
  const sizes = { train: 40, eval: 20, games: 40 };
  const data = await makeWordGame(1, sizes);
  const games = [...data.train, ...data.eval].map(({ words, secret }) =>
    [...words.toSorted(), secret].join(' '),
  );
  expect(new Set(games).size).toBe(60);
  for (const { words, secret } of data.train) {
    expect(words).toHaveLength(6);
    expect(words).toContain(secret);
  }
  // A hint against the rules would leave the guesser nothing to be told.
  const said = data.conversations.map(({ messages }) => messages.map(({ role }) => role));
  expect(said).toEqual(Array.from({ length: 80 }, () => ['user', 'assistant']));
  expect(await makeWordGame(1, sizes)).toEqual(data);
  expect((await makeWordGame(2, sizes)).train).not.toEqual(data.train);
});
