import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { keepFullFloat32 } from '#agent_rl/engine/full-float32.ts';

const variable = 'NVIDIA_TF32_OVERRIDE';
let before: string | undefined;

const set = (value: string | undefined): void => {
  if (value === undefined) delete process.env[variable];
  else process.env[variable] = value;
};

beforeEach(() => {
  before = process.env[variable];
  set(undefined);
});
afterEach(() => set(before));

describe('keepFullFloat32', () => {
  test.each(['cuda', 'cuda:1'])('forbids TF32 on %s', (device) => {
    keepFullFloat32(device);
    expect(process.env[variable]).toBe('0');
  });

  test('keeps a value set outside', () => {
    set('1');
    keepFullFloat32('cuda');
    expect(process.env[variable]).toBe('1');
  });

  test.each(['cpu', 'webgpu', 'tensorflow'])('sets nothing for %s', (device) => {
    keepFullFloat32(device);
    expect(process.env[variable]).toBeUndefined();
  });
});
