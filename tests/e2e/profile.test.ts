import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, expect, test } from '@jest/globals';

import { makeAcmeProject, readJson } from '../support/acme-project.ts';
import { residentProgram } from '../support/resident-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const project = temporaryFolder();
const agentRl = residentProgram('agent-rl');

interface TraceEvent {
  name: string;
  ph: 'M' | 'X';
  tid: number;
  ts: number;
  dur: number;
  args?: { name?: string; of?: string };
}

const trained = async (name: string, ...flags: string[]): Promise<string> => {
  const sets = [`run.name=${name}`, 'train.iterations=1'].flatMap((set) => ['--set', set]);
  const { code, stderr, stdout } = await agentRl(
    ['train', '--config', 'train.yaml', ...sets, ...flags],
    project,
  );
  expect(code === 0 ? '' : stderr).toBe('');
  return stdout;
};

beforeAll(() => makeAcmeProject(project));

test('a run with --profile reports what each thread did and learns the same weights', async () => {
  const output = await trained('profiled', '--profile');
  const file = join(project, 'runs', 'profiled', 'profile.json');
  expect(output).toContain(`Profile: ${file}`);
  const { traceEvents } = JSON.parse(readFileSync(file, 'utf8')) as { traceEvents: TraceEvent[] };
  const rows = new Map(
    traceEvents.flatMap(({ name, tid, args }) =>
      name === 'thread_name' ? [[tid, args!.name!] as const] : [],
    ),
  );
  const named = (track: string): string[] =>
    traceEvents
      .filter(({ ph, tid }) => ph === 'X' && rows.get(tid)!.startsWith(track))
      .map(({ name }) => name);
  expect(new Set(named('trainer'))).toEqual(
    new Set([
      'evaluation before',
      'collect',
      'update',
      'publish',
      'checkpoint',
      'evaluation after',
    ]),
  );
  expect(named('episodes')).toEqual(expect.arrayContaining(['generation', 'grading']));
  expect(named('engine thread')).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^step of \d+ rows$/),
      expect.stringMatching(/^training on /),
    ]),
  );
  const collect = traceEvents.find(({ name }) => name === 'collect')!;
  const within = traceEvents.filter(
    ({ name, ts, dur }) =>
      name.startsWith('step of') && ts >= collect.ts && ts + dur <= collect.ts + collect.dur,
  );
  // Threads have clocks of their own, which the file lays over one another.
  expect(within.length).toBeGreaterThan(0);

  await trained('plain');
  const weights = (name: string) =>
    readJson(join(project, 'runs', name), 'summary.json')['weightsSha256'];
  expect(weights('profiled')).toBe(weights('plain'));
  expect(existsSync(join(project, 'runs', 'plain', 'profile.json'))).toBe(false);
});
