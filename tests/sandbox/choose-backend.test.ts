import { relative } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { chooseBackend, type SandboxType } from '#agent_rl/sandbox/choose-backend.ts';
import { openSandbox } from '#agent_rl/sandbox/open-sandbox.ts';
import { findPython } from '#agent_rl/sandbox/native/find-python.ts';
import { hasNativePython, offersLevel } from '../support/python.ts';
import { errorOf } from '../support/thrown.ts';

const strongest = offersLevel('ns') ? 'native:ns' : offersLevel('lite') ? 'native:lite' : 'pyodide';

const tierOf = async (type: SandboxType, more = {}): Promise<string> => {
  const { sandbox, tier } = await chooseBackend({ type, workers: 1, ...more });
  try {
    const { status, level } = await sandbox.execute({ kind: 'run', code: 'print(1)' });
    expect(status).toBe('ok');
    expect(level.startsWith(tier)).toBe(true);
    return tier;
  } finally {
    await sandbox.close();
  }
};

describe('The backend of a sandbox', () => {
  test.each([
    ['auto', strongest],
    ['pyodide', 'pyodide'],
  ] as const)(
    'of type %s is %s here, receives no invalid request, and works on',
    async (type, tier) => {
      const sandbox = await openSandbox({ type, workers: 1, limits: { wallS: 5 } });
      expect(sandbox.tier).toBe(tier);
      expect(sandbox.capabilities().level.startsWith(tier)).toBe(true);
      try {
        const code = 'import time\ntime.sleep(0.5)\nprint(1)';
        const underWay = sandbox.execute({ kind: 'run', code });
        const refused = await sandbox.execute({ kind: 'run', code: '', seed: NaN });
        expect(refused).toMatchObject({ status: 'bad_request', stdout: '' });
        expect(await underWay).toMatchObject({ status: 'ok', stdout: '1\n' });
        expect(sandbox.counts).toEqual({ requests: 1, repeats: 0, incidents: 0 });
      } finally {
        await sandbox.close();
      }
    },
  );

  test('is skipped with a reason if it is not available', async () => {
    const python = '/nowhere/python3';
    const { sandbox, tier, skipped } = await chooseBackend({ type: 'auto', workers: 1, python });
    await sandbox.close();
    expect(tier).toBe('pyodide');
    // One reason for both levels of the native sandbox, given once.
    expect(skipped).toEqual([expect.stringMatching(/\/nowhere\/python3/)]);
  });

  test.each(['native', 'native:ns', 'native:lite'] as const)(
    'is refused, not weakened, if %s is set',
    async (type) => {
      const chosen = chooseBackend({ type, workers: 1, python: '/nowhere/python3' });
      const why = `No sandbox of type ${type} is available`;
      await expect(chosen).rejects.toMatchObject(errorOf('SANDBOX_UNAVAILABLE', why));
    },
  );
});

describe('The settings of a remote sandbox', () => {
  test.each([
    [{ type: 'remote' }, /sandbox\.url is not set/],
    [{ type: 'pyodide', url: 'http://h' }, /sandbox\.url has no effect with sandbox\.type pyodide/],
    [{ type: 'auto', tokenEnv: 'T' }, /sandbox\.tokenEnv has no effect/],
    [{ type: 'remote', url: 'http://h', python: '/p' }, /sandbox\.python has no effect/],
    [{ type: 'auto', url: 'http://h', tokenEnv: 'T' }, /sandbox\.url has[^]*sandbox\.tokenEnv has/],
    [{ type: 'auto', workers: 0 }, /sandbox\.workers is 0; it must be a whole number/],
    [{ type: 'remote', url: 'http://h', preload: ['numpy'] }, /sandbox\.preload has no effect/],
  ] as const)('are refused if they are missing or have no effect: %j', async (given, reason) => {
    const chosen = chooseBackend({ workers: 1, ...given });
    await expect(chosen).rejects.toMatchObject(errorOf('CONFIG_INVALID', reason));
  });
});

/** Started by a name, a supervisor could not start itself anew. */
const onLinux = hasNativePython ? test : test.skip;

describe('The search for a Python', () => {
  onLinux('finds a name on PATH, or the Python of this machine, and gives its whole path', () => {
    expect(findPython()).toMatch(/^\/.*python3$/);
    expect(findPython('python3')).toMatch(/^\/.*\/python3$/);
    expect(findPython(relative('.', findPython('python3')))).toBe(findPython('python3'));
  });

  onLinux('starts a native sandbox by a name', async () => {
    const python = 'python3';
    const tier = await tierOf('auto', { python });
    expect(tier).toBe(strongest);
  });

  test.each([
    ['/bin/true', /: \/bin\/true does not print a Python version\./],
    ['no-such-python', /No program on PATH is named "no-such-python"\./],
    ['./no-such-python', new RegExp(`${process.cwd()}/no-such-python does not start`)],
    ['/bin/false', /\/bin\/false does not start/],
  ])('refuses %s and names it', (python, reason) => {
    expect(() => findPython(python)).toThrow(hasNativePython ? reason : /native sandbox/);
  });
});
