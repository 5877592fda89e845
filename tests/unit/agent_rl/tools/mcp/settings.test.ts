import { expect, test } from '@jest/globals';

import { Value } from '#agent_rl/core/typebox.ts';
import { checkMcp, McpSettings } from '#agent_rl/tools/mcp/settings.ts';

test.each([
  [{ command: undefined }, 'needs either command or url.'],
  [{ url: 'http://localhost' }, 'needs either command or url.'],
  [
    { command: undefined, url: 'http://localhost', isolation: 'process' },
    'isolation process needs command.',
  ],
  [{ isolation: 'session' }, 'isolation session needs url.'],
  [{ apiKeyEnv: 'KEY' }, 'apiKeyEnv is sent to url.'],
  [{ command: undefined, url: 'http://localhost', env: ['A'] }, 'env is for a program'],
  [{ deadlineS: 9, longestS: 8 }, 'longestS is shorter than deadlineS.'],
])('settings that contradict each other are refused: %j', (over, problem) => {
  expect(() =>
    checkMcp(Value.Default(McpSettings, { command: ['server'], ...over }) as McpSettings),
  ).toThrow(problem);
});
