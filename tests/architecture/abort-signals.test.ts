import { expect, test } from '@jest/globals';

import { sourceFiles } from '../support/source-files.ts';

/** Here all signals end with their request. */
const allowed = new Set(['agent_rl/jobs/serve/serve-model.ts']);

test('no code uses AbortSignal.any, whose signals a long-lived signal keeps forever on Node 20', () => {
  const made = sourceFiles(['agent_rl', 'dataset', 'model', 'scripts'])
    .filter(({ text }) => text.includes('AbortSignal.any('))
    .map(({ path }) => path)
    .filter((path) => !allowed.has(path));
  // Use underSignals or follow of core/stopping/abort.ts.
  expect(made).toEqual([]);
});
