import { describe, expect, test } from '@jest/globals';

import type { RunResult } from '../../../../../agent_rl/core/services/sandbox.ts';
import type { SandboxIncident } from '../../../../../agent_rl/sandbox/incident.ts';
import { RetryingSandbox } from '../../../../../agent_rl/sandbox/layers/retrying-sandbox.ts';
import { scriptedSandbox } from '../../../../support/scripted-sandbox.ts';

function retrying(statuses: readonly RunResult['status'][]) {
  const waiting = [...statuses];
  const incidents: SandboxIncident[] = [];
  const inner = scriptedSandbox(() => ({ status: waiting.shift() ?? 'ok', message: 'no memory' }));
  const sandbox = new RetryingSandbox(inner, (incident) => incidents.push(incident));
  return { inner, sandbox, incidents };
}

describe('A sandbox that failed itself', () => {
  test('is asked once more, and says so', async () => {
    const { sandbox, incidents } = retrying(['sandbox_error', 'ok']);
    expect(await sandbox.run({ code: '1' })).toMatchObject({ status: 'ok' });
    expect(incidents).toEqual([
      { kind: 'retry', message: 'A program is run once more: no memory' },
    ]);
  });

  test('is not asked a third time', async () => {
    const { inner, sandbox } = retrying(['sandbox_error', 'sandbox_error', 'ok']);
    const tests = { statements: [] };
    expect(await sandbox.judge({ code: '1', tests })).toMatchObject({ status: 'sandbox_error' });
    expect(inner.requests).toHaveLength(2);
  });

  test.each(['error', 'timeout', 'memory_limit', 'crashed', 'bad_request'] as const)(
    'is not blamed for %s',
    async (status) => {
      const { inner, sandbox, incidents } = retrying([status]);
      const result = await sandbox.calls({ code: '1', entry: 'f', args: [] });
      expect(result).toMatchObject({ status });
      expect(inner.requests).toHaveLength(1);
      expect(incidents).toEqual([]);
    },
  );

  test('is left alone once it is closed', async () => {
    const { inner, sandbox } = retrying(['sandbox_error', 'ok']);
    await sandbox.close();
    expect(await sandbox.run({ code: '1' })).toMatchObject({ status: 'sandbox_error' });
    expect(inner.requests).toHaveLength(1);
  });
});
