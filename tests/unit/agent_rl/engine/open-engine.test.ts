import { describe, expect, test } from '@jest/globals';
import { listDevices, openEngine } from '#agent_rl/engine/open-engine.ts';

describe('openEngine', () => {
  test('opens the CPU', async () => {
    const engine = await openEngine({ device: 'cpu', threads: 1 });
    expect(engine.device).toBe('cpu');
    await engine.close();
  });

  test.each(['gpu', 'cuda:x', 'CPU', ''])('refuses the unknown device "%s"', async (device) => {
    await expect(openEngine({ device, threads: 1 })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(`Unknown device "${device}"`),
    });
  });

  test.each([0, 1.5, -1])('refuses %d threads', async (threads) => {
    await expect(openEngine({ device: 'cpu', threads })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
  });
});

describe('listDevices', () => {
  test('agrees with openEngine about every device', async () => {
    const reports = await listDevices();
    expect(reports.map(({ device }) => device)).toEqual(['cpu', 'cuda', 'webgpu', 'tensorflow']);
    expect(reports[0]).toMatchObject({ available: true });
    const opened = await Promise.all(
      reports.map(({ device }) =>
        openEngine({ device, threads: 1 }).then(
          (engine) => engine.close().then(() => 'available'),
          (thrown: { code: string }) => thrown.code,
        ),
      ),
    );
    expect(opened).toEqual(
      reports.map(({ available }) => (available ? 'available' : 'DEVICE_UNAVAILABLE')),
    );
    expect(reports.every(({ detail }) => detail.length > 0)).toBe(true);
  });
});
