import { afterAll, describe, expect, test } from '@jest/globals';
import { EagerEngine } from '#agent_rl/engine/eager-engine.ts';
import { float } from '#agent_rl/engine/engine.ts';
import { keepFullFloat32 } from '#agent_rl/engine/full-float32.ts';
import { listDevices, openEngine } from '#agent_rl/engine/open-engine.ts';
import { tf } from '#agent_rl/engine/ops.ts';
import { errorOf } from '#tests/support/thrown.ts';

describe('openEngine', () => {
  test.each(['gpu', 'cuda:x', 'CPU', ''])('refuses the unknown device "%s"', async (device) => {
    await expect(openEngine({ device, threads: 1 })).rejects.toMatchObject(
      errorOf('CONFIG_INVALID', `Unknown device "${device}"`),
    );
  });

  test.each([0, 1.5, -1])('refuses %d threads', async (threads) => {
    await expect(openEngine({ device: 'cpu', threads })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
  });
});

test('listDevices agrees with openEngine about every device', async () => {
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

const vector = float('x', [2]);

test('EagerEngine neither keeps nor changes the arrays it is given', async () => {
  const engine = await EagerEngine.open('cpu');
  const program = await engine.compile([vector], ({ x }) => ({ same: x! }));
  const x = Float32Array.of(1, 2);
  const { same } = await program.run({ x });
  same![0] = 9;
  expect(x).toEqual(Float32Array.of(1, 2));
});

test('EagerEngine leaves no tensor behind', async () => {
  const engine = await EagerEngine.open('cpu');
  const program = await engine.compile([vector], ({ x }) => ({ y: tf.exp(tf.neg(x!)) }));
  const before = tf.memory().numTensors;
  await program.run({ x: Float32Array.of(1, 2) });
  expect(tf.memory().numTensors).toBe(before);
});

test('EagerEngine refuses what the compiled engines refuse', async () => {
  const engine = await EagerEngine.open('cpu');
  const booleans = engine.compile([vector], ({ x }) => ({ y: tf.greater(x!, 0) }));
  await expect(booleans).rejects.toMatchObject({ code: 'NOT_TRACEABLE' });
  const program = await engine.compile([vector], ({ x }) => ({ y: x! }));
  await expect(program.run({ x: new Float32Array(3) })).rejects.toMatchObject({
    code: 'SHAPE_MISMATCH',
  });
});

describe('keepFullFloat32', () => {
  const variable = 'NVIDIA_TF32_OVERRIDE';
  const before = process.env[variable];
  afterAll(() => {
    delete process.env[variable];
    if (before !== undefined) process.env[variable] = before;
  });

  test.each([
    ['forbids TF32 on', 'cuda', undefined, '0'],
    ['forbids TF32 on', 'cuda:1', undefined, '0'],
    ['keeps a value set outside on', 'cuda', '1', '1'],
    ['sets nothing for', 'cpu', undefined, undefined],
    ['sets nothing for', 'webgpu', undefined, undefined],
    ['sets nothing for', 'tensorflow', undefined, undefined],
  ])('%s %s (%s)', (_, device, outside, value) => {
    delete process.env[variable];
    if (outside !== undefined) process.env[variable] = outside;
    keepFullFloat32(device);
    expect(process.env[variable]).toBe(value);
  });
});
