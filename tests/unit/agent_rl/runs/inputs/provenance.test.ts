import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, describe, expect, test } from '@jest/globals';

import { loadConfig, settingOrigins } from '#agent_rl/config/index.ts';
import { readProvenance, recordProvenance } from '#agent_rl/runs/inputs/provenance.ts';
import { runFolderAt } from '#agent_rl/runs/run-folder.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();

describe('The origin of a setting', () => {
  const base =
    'algorithm:\n  name: dapo\nenvironment: { type: question }\ndatasets: [{ dir: tasks }]\n';
  const below = writeBelow(folder, 'below.yaml', base);
  const text = 'extends: below.yaml\nrollout:\n  groupSize: 4\ntools:\n  - type: code_exec\n';
  const file = writeBelow(folder, 'own.yaml', text);
  const loaded = loadConfig({
    file,
    overrides: ['train.iterations=3', 'trackers=[{type: tensorboard}]'],
    flags: [{ source: '--seed 7', path: 'run.seed', value: 7 }],
  });
  const origins = settingOrigins(loaded, loaded.config);

  test.each([
    ['rollout.groupSize', { source: 'file', place: `${file}:3` }],
    ['algorithm.name', { source: 'file', place: `${below}:2` }],
    ['algorithm.loss.clipHigh', { source: 'preset', place: `${below}:2` }],
    ['train.iterations', { source: 'flag', place: '--set train.iterations=3' }],
    ['trackers.0.type', { source: 'flag', place: '--set trackers=[{type: tensorboard}]' }],
    ['run.seed', { source: 'flag', place: '--seed 7' }],
    ['train.learningRate', { source: 'default' }],
  ])('is known for %s', (path, origin) => {
    expect(origins[path]).toEqual(origin);
  });

  test('is a program where one gave it', () => {
    const task = { environment: { type: 'question' }, datasets: [{ dir: 'a' }] };
    const given = loadConfig({ file: 'agent', settings: { run: { seed: 3 }, ...task } });
    const { 'run.seed': seed, 'run.device': device } = settingOrigins(given, given.config);
    expect([seed, device]).toEqual([{ source: 'program', place: 'agent' }, { source: 'default' }]);
  });
});

describe('provenance.json', () => {
  const hardware = { device: 'cpu', engineThreads: 1, platform: 'linux x64', cpu: 'some' };
  const machine = { ...hardware, node: 'v1', agentRl: '0.0.1' };
  const run = runFolderAt(folder);
  const { argv } = process;

  afterEach(() => {
    process.argv = argv;
    delete process.env['PROVENANCE_TOKEN'];
  });

  test('has the command line without secrets', () => {
    process.env['PROVENANCE_TOKEN'] = 'hush-hush';
    process.argv = 'node agent-rl train --set a=hush-hush http://me:passw0rd@host/'.split(' ');
    const seed = { source: 'flag', place: '--seed hush-hush' } as const;
    recordProvenance(run, { 'run.seed': seed }, machine);
    const text = readFileSync(join(folder, 'provenance.json'), 'utf8');
    expect(text).not.toMatch(/hush-hush|passw0rd/);
    const command = ['agent-rl', 'train', '--set', 'a=[redacted]', 'http://me:[redacted]@host/'];
    expect(readProvenance(run)).toMatchObject({
      settings: { 'run.seed': { source: 'flag', place: '--seed [redacted]' } },
      sessions: [{ command, versions: { agent_rl: '0.0.1', node: 'v1', platform: 'linux x64' } }],
    });
  });

  test('keeps what it knew of settings that a resume takes from the run itself', () => {
    const from = (place: string) => ({ source: 'file', place }) as const;
    recordProvenance(run, { a: from('own.yaml:3'), b: { source: 'default' } }, machine);
    const own = (line: number) => from(`${run.config}:${line}`);
    const flag = { source: 'flag', place: '--set c=1' } as const;
    recordProvenance(run, { a: own(1), b: own(2), c: flag, d: own(3) }, machine);
    const known = { a: from('own.yaml:3'), b: { source: 'default' } };
    expect(readProvenance(run)?.settings).toEqual({ ...known, c: flag, d: own(3) });
    expect(readProvenance(run)?.sessions.length).toBeGreaterThan(1);
  });

  test.each(['', '[]', '{"schema":2,"settings":{},"sessions":[]}'])('%j says nothing', (text) => {
    writeFileSync(join(folder, 'provenance.json'), text);
    expect(readProvenance(run)).toBe(undefined);
  });
});
