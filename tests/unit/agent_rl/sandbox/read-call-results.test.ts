import { expect, test } from '@jest/globals';

import { readCallResults } from '../../../../agent_rl/sandbox/read-call-results.ts';

test('reads what the harness writes', () => {
  const results = [
    { ok: true, value: { $tuple: [1, 'a'] } },
    { ok: false, problem: 'ZeroDivisionError: division by zero' },
  ];
  expect(readCallResults(JSON.stringify(results))).toEqual(results);
});

test.each(['[x]', '{"ok": true}', '[1]', '[{"ok": false}]', '[{"ok": true, "value": {"$no": 1}}]'])(
  'does not trust %s, which a program may have put there',
  (text) => {
    expect(readCallResults(text)).toBeUndefined();
  },
);
