import { describe, expect, test } from '@jest/globals';

import { messageOf } from '../../../../agent_rl/core/errors.ts';
import { chooseBackend, type SandboxType } from '../../../../agent_rl/sandbox/choose-backend.ts';
import { findPython } from '../../../../agent_rl/sandbox/native/find-python.ts';
import { hasNativePython, offersLevel } from '../../../support/python.ts';

const strongest = offersLevel('ns') ? 'native:ns' : offersLevel('lite') ? 'native:lite' : 'pyodide';

const tierOf = async (type: SandboxType, more = {}): Promise<string> => {
  const { sandbox, tier } = await chooseBackend({ type, workers: 1, ...more });
  try {
    const { status, level } = await sandbox.run({ code: 'print(1)' });
    expect(status).toBe('ok');
    expect(level.startsWith(tier)).toBe(true);
    return tier;
  } finally {
    await sandbox.close();
  }
};

describe('The backend of a sandbox', () => {
  test('is the strongest of the machine when none is named', async () => {
    expect(await tierOf('auto')).toBe(strongest);
  }, 60_000);

  test('is pyodide when that is named, whatever else there is', async () => {
    expect(await tierOf('pyodide')).toBe('pyodide');
  }, 60_000);

  test('is passed over with its reason when it cannot be had', async () => {
    const python = '/nowhere/python3';
    const { sandbox, tier, passedOver } = await chooseBackend({ type: 'auto', workers: 1, python });
    await sandbox.close();
    expect(tier).toBe('pyodide');
    expect(passedOver).toHaveLength(2);
    expect(passedOver[0]).toMatch(/\/nowhere\/python3/);
  }, 60_000);

  test.each(['native', 'native:ns', 'native:lite'] as const)(
    'is refused rather than weakened when %s is named',
    async (type) => {
      const chosen = chooseBackend({ type, workers: 1, python: '/nowhere/python3' });
      await expect(chosen).rejects.toMatchObject({
        code: 'SANDBOX_UNAVAILABLE',
        message: expect.stringContaining(`No sandbox of type ${type} can be had`),
      });
    },
  );

  test('has a module beyond the standard library or is refused', async () => {
    const preload = ['no_such_module'];
    const chosen = chooseBackend({ type: 'auto', workers: 1, preload });
    await expect(chosen).rejects.toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: expect.stringMatching(/no_such_module[^]*sandbox\.preload names no_such_module/),
    });
  });
});

describe('The settings of a remote sandbox', () => {
  test.each([
    [{ type: 'remote' }, /sandbox\.url is not set/],
    [{ type: 'pyodide', url: 'http://h' }, /sandbox\.url has no effect with sandbox\.type pyodide/],
    [{ type: 'auto', tokenEnv: 'T' }, /sandbox\.tokenEnv has no effect/],
    [{ type: 'remote', url: 'http://h', python: '/p' }, /sandbox\.python has no effect/],
    [{ type: 'remote', url: 'http://h', preload: ['numpy'] }, /sandbox\.preload has no effect/],
  ] as const)('%j are refused where they have no effect or are missing', async (given, reason) => {
    await expect(chooseBackend({ workers: 1, ...given })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(reason),
    });
  });
});

describe('Finding a Python', () => {
  test('takes one of this machine or says that there is none', () => {
    const found = (): string => {
      try {
        return findPython();
      } catch (error) {
        return messageOf(error);
      }
    };
    expect(found()).toMatch(hasNativePython ? /python3$/ : /native sandbox/);
  });

  test.each([
    ['/bin/true', /\/bin\/true is Python/],
    ['/bin/false', /\/bin\/false does not start/],
  ])('refuses %s by name', (python, reason) => {
    expect(() => findPython(python)).toThrow(hasNativePython ? reason : /native sandbox/);
  });
});
