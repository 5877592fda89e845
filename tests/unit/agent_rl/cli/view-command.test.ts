import { expect, test } from '@jest/globals';

import { commandLine } from '#tests/support/command-line.ts';

/** What `agent-rl view` is asked for with a number of episodes. */
async function episodesOf(words: readonly string[]) {
  const asked: (number | undefined)[] = [];
  const ran = await commandLine(['view', 'runs/one', '--export', 'shared', ...words], {
    jobs: {
      viewRuns: async ({ exportEpisodes }) => {
        asked.push(exportEpisodes);
        return {};
      },
    },
  });
  return { asked, ...ran };
}

test.each([
  [[], undefined],
  [['--export-episodes', '200'], 200],
  [['--export-episodes', '0'], 0],
  [['--export-episodes', 'all'], Infinity],
])('an export of %j has the number of training episodes', async (words, expected) => {
  expect((await episodesOf(words)).asked).toEqual([expected]);
});

test('neither a number nor all is refused', async () => {
  const { asked, code, stderr } = await episodesOf(['--export-episodes', 'many']);
  expect([asked, code, stderr]).toEqual([
    [],
    2,
    'CONFIG_INVALID: --export-episodes is "many"; expected a whole number from 0, or all.\n',
  ]);
});
