import { expect, test } from '@jest/globals';

import { AgentRlError } from '#agent_rl/core/errors.ts';
import {
  AgentFailure,
  failureOf,
  PluginError,
  RetriesSpent,
  TransientError,
} from '#agent_rl/core/failure.ts';

const inPlugin = (cause: unknown) => new PluginError('Tool "look" failed', { cause });
const busy = new TransientError('busy');
const reset = Object.assign(new Error(), { code: 'ECONNRESET' });
const gone = new AgentRlError('SANDBOX_UNAVAILABLE', 'gone');

test.each([
  ['a bug of a plugin', inPlugin(new TypeError('undefined')), 'plugin', false],
  ['what a plugin says may pass', inPlugin(busy), 'host', true],
  ['a connection that was reset', inPlugin(reset), 'host', true],
  ['a sandbox that failed', inPlugin(gone), 'host', true],
  ['a key that is refused', inPlugin(new AgentRlError('WEB_REQUEST_DENIED', 'no')), 'user', false],
  ['a prompt that does not fit', new AgentRlError('DATASET_INVALID', 'long'), 'user', false],
  ['an error of this package', new Error('odd'), 'host', false],
  ['what was tried often enough', new RetriesSpent('x', { cause: busy }), 'host', false],
  ['an agent that failed', inPlugin(new AgentFailure('exit code 3')), 'plugin', true],
  ['an agent whose server failed', new AgentFailure('x', { cause: busy }), 'plugin', true],
  ['no error at all', 'text', 'host', false],
])('%s has its owner', (_, thrown, owner, retryable) => {
  expect(failureOf(thrown)).toEqual({ owner, retryable });
});

test('a circular cause ends the search', () => {
  const circle: Error = new Error('a');
  circle.cause = new Error('b', { cause: circle });
  expect(failureOf(circle)).toEqual({ owner: 'host', retryable: false });
});
