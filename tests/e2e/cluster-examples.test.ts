import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';

import { loadConfig } from '#agent_rl/config/index.ts';
import { settingsOfRuns } from '#agent_rl/config/settings-of.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { projectFile } from '#tests/support/source-files.ts';
import { commandLine } from '../support/command-line.ts';

const folder = join('examples', 'cluster');

interface Service {
  image: string;
  user: string;
  read_only: boolean;
  cap_drop: string[];
  security_opt: string[];
  command: string[];
  volumes?: string[];
  networks: string[];
  ports?: string[];
  healthcheck: { test: string[] };
}

const compose = parse(projectFile(join(folder, 'compose.yaml')), { merge: true }) as {
  services: Record<'sandbox' | 'vllm' | 'trainer', Service>;
  networks: Record<string, { internal: boolean }>;
};
const { sandbox, vllm, trainer } = compose.services;

/** Flags that a command line gives, and those that its command has. */
async function flagsOf(words: readonly string[]): Promise<[used: string[], known: string[]]> {
  const first = words.findIndex((word) => word.startsWith('-'));
  const names = words.slice(0, Math.max(1, first));
  const { stdout } = await commandLine([...names, '--help']);
  const flags = (text: string): string[] => text.match(/--[a-z][a-z-]+/g) ?? [];
  return [flags(words.join(' ')), flags(stdout)];
}

describe('The services of compose.yaml', () => {
  test.each(Object.entries(compose.services))(
    'include %s without root, capabilities, writable files or ports, and with a health check',
    (_, service) => {
      expect(service).toMatchObject({
        user: '${AGENT_UID:-1000}:${AGENT_GID:-1000}',
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      });
      expect(service.ports).toBeUndefined();
      expect(service.healthcheck.test[0]).toBe('CMD');
      expect(service.image).toMatch(/:v?\d+\.\d+\.\d+$/);
    },
  );

  test('use networks without internet access, and the sandbox shares no network with the model', () => {
    expect(Object.values(compose.networks)).toEqual([{ internal: true }, { internal: true }]);
    expect([sandbox.networks, vllm.networks]).toEqual([['programs'], ['model']]);
    expect(trainer.networks).toEqual(['programs', 'model']);
    expect(sandbox.volumes).toBeUndefined();
  });

  test.each([
    ['sandbox', sandbox],
    ['trainer', trainer],
  ])('start %s by an existing command', async (_, { command }) => {
    const [used, known] = await flagsOf(command);
    expect(used.length).toBeGreaterThan(2);
    expect(used.filter((flag) => !known.includes(flag))).toEqual([]);
  });
});

test('the run file is valid and names the services', () => {
  const { config } = loadConfig({ file: join(packageRoot(), folder, 'run.yaml') });
  expect(config.sandbox).toMatchObject({ url: 'http://sandbox:8080', tokenEnv: 'SANDBOX_TOKEN' });
  expect(config.generator).toMatchObject({ urls: ['http://vllm:8000'] });
  const [workers] = sandbox.command.slice(sandbox.command.indexOf('--workers') + 1);
  expect(config.sandbox.workers).toBe(Number(workers));
});

describe('The file job.slurm', () => {
  const text = projectFile(join(folder, 'job.slurm'));

  test('is valid bash', () => {
    const file = join(packageRoot(), folder, 'job.slurm');
    expect(() => execFileSync('bash', ['-n', file], { stdio: 'pipe' })).not.toThrow();
  });

  test('uses existing commands and settings', async () => {
    const paths = [...text.matchAll(/--set "([\w.]+)=/g)].map(([, path = '']) => path);
    expect(paths.length).toBeGreaterThan(5);
    const known = new Set(settingsOfRuns().map(({ path }) => path));
    // The settings of a generator are its plugin's.
    const own = paths.filter((path) => !path.startsWith('generator.'));
    expect(own.filter((path) => !known.has(path))).toEqual([]);
    const lines = text.replaceAll('\\\n', ' ').matchAll(/"\$agent_rl" ((?:train|sandbox) .*)/g);
    const commands = [...lines].map(([, line = '']) => line.split(/\s+/));
    expect(commands).toHaveLength(3);
    for (const words of commands) {
      const [used, flags] = await flagsOf(words);
      expect(used.filter((flag) => !flags.includes(flag))).toEqual([]);
    }
  });
});
