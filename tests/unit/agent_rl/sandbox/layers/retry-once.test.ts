import { describe, expect, test } from '@jest/globals';

import type { RunResult } from '#agent_rl/core/services/sandbox.ts';
import type { SandboxIncident } from '#agent_rl/sandbox/incident.ts';
import { layered, retryOnce } from '#agent_rl/sandbox/layers/layer.ts';
import { scriptedSandbox } from '#tests/support/scripted-sandbox.ts';

function retrying(statuses: readonly RunResult['status'][]) {
  const waiting = [...statuses];
  const incidents: SandboxIncident[] = [];
  const inner = scriptedSandbox(() => ({ status: waiting.shift() ?? 'ok', message: 'no memory' }));
  const closing = new AbortController();
  const onIncident = (incident: SandboxIncident): unknown => incidents.push(incident);
  const sandbox = layered(inner, [retryOnce({ onIncident, closed: closing.signal })]);
  return { inner, sandbox, incidents, closing };
}

describe('A sandbox that fails', () => {
  test('is asked once more, and the retry is reported', async () => {
    const { sandbox, incidents } = retrying(['sandbox_error', 'ok']);
    expect(await sandbox.execute({ kind: 'run', code: '1' })).toMatchObject({ status: 'ok' });
    const message: unknown = expect.stringContaining('no memory');
    expect(incidents).toEqual([{ kind: 'retry', message }]);
  });

  test('is not asked a third time', async () => {
    const { inner, sandbox } = retrying(['sandbox_error', 'sandbox_error', 'ok']);
    const tests = { statements: [] };
    const { status } = await sandbox.execute({ kind: 'judge', code: '1', tests });
    expect(status).toBe('sandbox_error');
    expect(inner.requests).toHaveLength(2);
  });

  test.each(['error', 'timeout'] as const)('is not asked again after %s', async (status) => {
    const { inner, sandbox, incidents } = retrying([status]);
    const result = await sandbox.execute({ kind: 'calls', code: '1', entry: 'f', args: [] });
    expect([result.status, inner.requests.length, incidents]).toEqual([status, 1, []]);
  });

  test('is not asked again once it is closed', async () => {
    const { inner, sandbox, closing } = retrying(['sandbox_error', 'ok']);
    closing.abort();
    const { status } = await sandbox.execute({ kind: 'run', code: '1' });
    expect(status).toBe('sandbox_error');
    expect(inner.requests).toHaveLength(1);
  });
});
