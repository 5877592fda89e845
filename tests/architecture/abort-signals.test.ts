import { expect, test } from '@jest/globals';

import { sourceFiles } from '../support/source-files.ts';

/** Where all signals end with the request that they are of. */
const allowed = new Set(['agent_rl/jobs/serve/serve-model.ts']);

test('no code makes signals with AbortSignal.any, which a long-lived signal keeps for ever (Node 20)', () => {
  const made = sourceFiles(['agent_rl', 'dataset', 'model', 'scripts'])
    .filter(({ text }) => text.includes('AbortSignal.any('))
    .map(({ path }) => path)
    .filter((path) => !allowed.has(path));
  // Use underSignals or follow of core/stopping/abort.ts.
  expect(made).toEqual([]);
});
