import { expect, test } from '@jest/globals';

import { readVerdicts } from '#agent_rl/sandbox/requests/read-verdicts.ts';

const read = (text: string, count: number) => readVerdicts(text.split('\n').slice(0, -1), count);

const passed = '{"index":0,"passed":true}\n';
const failed = '{"index":1,"passed":false,"problem":"AssertionError"}\n';

test('One verdict is read for each line, in order', () => {
  const problem = 'AssertionError';
  expect(read(passed + failed, 2)).toEqual([{ passed: true }, { passed: false, problem }]);
});

test('Tests that ended early have fewer verdicts than statements, and a truncated one does not count', () => {
  expect(read(`${passed}{"index":1,"passed":tr`, 3)).toEqual([{ passed: true }]);
  expect(read('', 3)).toEqual([]);
});

test('A problem before the first statement is the problem of every statement', () => {
  const problem = 'the solution did not load';
  const each = { passed: false, problem };
  expect(read(`{"problem":"${problem}"}\n`, 2)).toEqual([each, each]);
});

test.each([
  'no JSON\n',
  '[{"index":0,"passed":true}]\n',
  '{"passed":true}\n',
  '{"index":1,"passed":true}\n',
  '{"index":0,"passed":1}\n',
  '{"index":0,"passed":true,"problem":"none"}\n',
  '{"index":0,"passed":false}\n',
  '{"problem":"late","index":0}\n',
  `${passed}{"problem":"late"}\n`,
  `${passed}${passed}`,
  `${passed}${failed}{"index":2,"passed":true}\n`,
])('Lines that the harness does not write are refused: %j', (text) => {
  expect(read(text, 2)).toBeUndefined();
});
