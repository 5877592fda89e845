import { describe, expect, test } from '@jest/globals';

import type { ServeSandboxOptions } from '#agent_rl/jobs/machine/serve-sandbox.ts';
import { commandLine } from '#tests/support/command-line.ts';

describe('agent-rl sandbox', () => {
  test('serve passes its flags to the job', async () => {
    const given: ServeSandboxOptions[] = [];
    const serveSandbox = async (options: ServeSandboxOptions) => {
      given.push(options);
      options.print('Ready.');
      options.warn('A retry.');
      return { url: 'http://127.0.0.1:1', answers: { 200: 3 } };
    };
    const args =
      'sandbox serve --port 0 --host ::1 --token-env TOKEN --type native:ns --python /p --preload numpy --workers 3 --json';
    const ran = await commandLine(args.split(' '), { jobs: { serveSandbox } });
    expect(ran.code).toBe(0);
    expect(given[0]).toMatchObject({
      port: 0,
      host: '::1',
      tokenEnv: 'TOKEN',
      type: 'native:ns',
      python: '/p',
      preload: ['numpy'],
      workers: 3,
    });
    expect(JSON.parse(ran.stdout)).toEqual({ url: 'http://127.0.0.1:1', answers: { 200: 3 } });
    expect(ran.stderr).toBe('Ready.\nA retry.\n');
  });

  test('serve listens on this machine alone by default', async () => {
    const given: ServeSandboxOptions[] = [];
    const serveSandbox = async (options: ServeSandboxOptions) => {
      given.push(options);
      return {};
    };
    expect((await commandLine(['sandbox', 'serve'], { jobs: { serveSandbox } })).code).toBe(0);
    expect(given[0]).toMatchObject({ host: '127.0.0.1', port: 8080, type: 'auto', preload: [] });
    expect(given[0]).not.toHaveProperty('tokenEnv');
  });

  test('serve refuses an empty name of a token variable, and does not listen without a token', async () => {
    const { code, stderr } = await commandLine(['sandbox', 'serve', '--token-env', ''], {
      jobs: { serveSandbox: async () => Promise.reject(new Error('served')) },
    });
    expect(code).toBe(2);
    expect(stderr).toContain('The value of token-env is empty.');
  });

  test('doctor exits with 1 when a sandbox lets something out', async () => {
    const run = (ok: boolean) =>
      commandLine(['sandbox', 'doctor'], {
        jobs: { sandboxDoctor: async () => ({ ok, auto: null, findings: [] }) },
      });
    expect((await run(true)).code).toBe(0);
    expect((await run(false)).code).toBe(1);
  });

  test('doctor passes its flags to the job', async () => {
    const given: object[] = [];
    const sandboxDoctor = async (options: object) => {
      given.push(options);
      return { ok: true, auto: null, findings: [] };
    };
    const args = ['sandbox', 'doctor', '--python', '/p', '--preload', 'numpy', 'sympy'];
    expect((await commandLine(args, { jobs: { sandboxDoctor } })).code).toBe(0);
    expect(given[0]).toMatchObject({ python: '/p', preload: ['numpy', 'sympy'] });
  });

  test.each([
    [['sandbox', '--json'], /Name a command of sandbox: serve, doctor/],
    [['sandbox', 'sreve'], /Did you mean sandbox serve\?/],
    [
      ['sandbox', 'serve', '--port', '70000'],
      /--port is "70000"; expected a whole number from 0 to 65535/,
    ],
    [['sandbox', 'serve', '--port', 'abc'], /--port is "abc"; expected a whole number/],
    [['sandbox', 'serve', '--port='], /--port is ""; expected a whole number/],
    [['sandbox', 'serve', '--workers', 'x'], /--workers is "x"; expected a whole number/],
    [['sandbox', 'doctor', '--python'], /Not enough arguments following: python/],
    [['sandbox', 'serve', '--port', '1', '--port', '2'], /--port was given 2 times/],
    [['sandbox', 'serve', '--type', 'remote'], /remote/],
    [['sandbox', 'serve', '--prot', '1'], /prot/],
  ])('%j is refused with the mistake', async (args, reason) => {
    const { code, stderr } = await commandLine(args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(reason)]);
  });

  test.each([[['sandbox', '--help']], [['sandbox']]])('%j lists its commands', async (args) => {
    const { code, stdout } = await commandLine(args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/sandbox serve[^]*sandbox doctor/);
  });
});
