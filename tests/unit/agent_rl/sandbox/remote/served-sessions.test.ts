import { expect, test } from '@jest/globals';

import type { SandboxSession } from '#agent_rl/core/services/sandbox.ts';
import { ServedSessions } from '#agent_rl/sandbox/remote/served-sessions.ts';
import { scriptedSandbox } from '#tests/support/scripted-sandbox.ts';

const never = new AbortController().signal;

/** Sessions of a scripted sandbox, and how many of them were closed. */
function sessions(idleMs?: number) {
  const sandbox = scriptedSandbox(() => ({ stdout: 'ran' }));
  const closed: SandboxSession[] = [];
  const openSession = (): SandboxSession => {
    const session = sandbox.openSession();
    const counted = { ...session, close: async () => void closed.push(counted) };
    return counted;
  };
  return { served: new ServedSessions({ ...sandbox, openSession }, idleMs), closed };
}

test('A session runs programs until it, or its server, is ended', async () => {
  const { served, closed } = sessions();
  const id = served.open({});
  expect(await served.run(id, { code: '' }, never)).toMatchObject({ stdout: 'ran' });
  await served.end(id);
  expect(closed).toHaveLength(1);
  await expect(served.run(id, { code: '' }, never)).rejects.toMatchObject({ status: 404 });
  await served.end(id);
  expect(closed).toHaveLength(1);
  served.open({});
  served.open({});
  await served.close();
  expect(closed).toHaveLength(3);
});

test('A session that is idle is ended', async () => {
  const { served, closed } = sessions(30);
  served.open({});
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(closed).toHaveLength(1);
});
