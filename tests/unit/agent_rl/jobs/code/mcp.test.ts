import { expect, test } from '@jest/globals';

import { mcp } from '#agent_rl/jobs/code/mcp.ts';

test.each([
  [mcp('npx -y  some-server dir'), { type: 'mcp', command: ['npx', '-y', 'some-server', 'dir'] }],
  [mcp(['node', 'a server.mjs']), { type: 'mcp', command: ['node', 'a server.mjs'] }],
  [
    mcp('http://localhost:1/mcp', { isolation: 'shared' }),
    { type: 'mcp', url: 'http://localhost:1/mcp', isolation: 'shared' },
  ],
])('mcp() gives the block of a run file', (block, expected) => {
  expect(block).toEqual(expected);
});
