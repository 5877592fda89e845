import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { createRunFolder } from '#agent_rl/runs/run-folder.ts';
import {
  createLog,
  JsonlWriter,
  metricDefinition,
  MetricsWriter,
  redactor,
  writeFileAtomic,
  writeFolderAtomic,
} from '#agent_rl/telemetry/index.ts';
import { redactDeep, secretValues, withoutSecrets } from '#agent_rl/telemetry/redact.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, expectRejection, thrownBy } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
const text = (file: string) => readFileSync(file, 'utf8');

describe('JsonlWriter', () => {
  test.each([
    [
      'texts for numbers that JSON lacks',
      { loss: NaN, norm: Infinity },
      '{"loss":"NaN","norm":"Infinity"}',
    ],
    [
      'lists, absent values and values with toJSON as JSON does',
      { odd: [1, 2.5, NaN, 'planted', undefined], when: new Date(0), no: undefined },
      '{"odd":[1,2.5,"NaN","[redacted]",null],"when":"1970-01-01T00:00:00.000Z"}',
    ],
    [
      'a secret that looks like a number hidden in texts and names, and numbers as they are',
      { rate: 0.1000001, x100000: 'is 100000' },
      '{"rate":0.1000001,"x[redacted]":"is [redacted]"}',
    ],
  ])('writes %s', (_, record, expected) => {
    const file = writeBelow(folder, 'forms.jsonl', '{}\n');
    const writer = new JsonlWriter(file, redactor({ MY_KEY: 'planted', MAX_TOKENS: '100000' }));
    writer.write(record);
    writer.close();
    // Below what the file holds.
    expect(text(file)).toBe(`{}\n${expected}\n`);
  });
});

// Every write to it fails as on a full disk.
const full = '/dev/full';

(existsSync(full) ? describe : describe.skip)('a full disk', () => {
  test('is an error that says what to do', () => {
    const writer = new JsonlWriter(full);
    const error = thrownBy(() => writer.write({ a: 1 }));
    writer.close();
    expect(error).toMatchObject(
      errorOf('OUTPUT_UNWRITABLE', /\/dev\/full: .*no space left.*\. The disk is full: free/),
    );
  });
});

describe('The metrics', () => {
  test('each belong to a name or a family', () => {
    expect(metricDefinition('rollout/rewardMean')?.unit).toBe('reward');
    expect(metricDefinition('outcome/tool-timeout')?.unit).toBe('episodes');
    expect(metricDefinition('eval/group/held-out/strings')?.unit).toBe('1');
    expect(metricDefinition('outcome/')).toBeUndefined();
    expect(metricDefinition('outcome/*')).toBeDefined();
    expect(metricDefinition('rollout/rewardmean')).toBeUndefined();
    expect(metricDefinition('toString')).toBeUndefined();
  });

  test('accept no unknown name, before anything is written', () => {
    const file = join(folder, 'metrics.jsonl');
    const writer = new MetricsWriter(file);
    const wrong = { 'rollout/rewardmean': 1 } as Record<string, number>;
    expect(() => writer.write(1, wrong)).toThrow(/No metric is named "rollout\/rewardmean"/);
    writer.write(2, { 'rollout/rewardMean': 0.5, 'seconds/update': 1.5 });
    writer.close();
    expect(text(file)).toBe('{"iteration":2,"rollout/rewardMean":0.5,"seconds/update":1.5}\n');
  });
});

describe('The folder of a run', () => {
  test('is empty, and gets a number when its own name is taken', () => {
    const options = { outputDir: join(folder, 'runs'), otherwise: 'job-seed42' };
    const { name, path, checkpoints } = createRunFolder(options);
    expect([name, readdirSync(path)]).toEqual(['job-seed42', []]);
    expect(checkpoints).toBe(join(path, 'checkpoints'));
    expect(createRunFolder(options).name).toBe('job-seed42-2');
    expect(createRunFolder(options).name).toBe('job-seed42-3');
  });

  test('is never used twice under the name the user gave, nor made below a file', () => {
    const options = { outputDir: join(folder, 'runs'), name: 'mine', otherwise: 'x' };
    createRunFolder(options);
    expect(thrownBy(() => createRunFolder(options))).toMatchObject(
      errorOf('OUTPUT_UNWRITABLE', /mine already contains a run, and runs are never .*--resume/),
    );
    const below = { outputDir: join(writeBelow(folder, 'a-file', ''), 'runs'), otherwise: 'x' };
    expect(thrownBy(() => createRunFolder(below))).toMatchObject(
      errorOf('OUTPUT_UNWRITABLE', 'Part of the path is a file'),
    );
  });
});

describe('writing aside and renaming', () => {
  test('replaces a file whole and leaves nothing else', () => {
    const file = join(folder, 'atomic', 'summary.json');
    writeFileAtomic(file, 'old');
    writeFileAtomic(file, 'new');
    expect(text(file)).toBe('new');
    expect(readdirSync(join(folder, 'atomic'))).toEqual(['summary.json']);
  });

  test('a file that cannot be replaced stays as it was', () => {
    const file = join(folder, 'kept');
    mkdirSync(join(file, 'inside'), { recursive: true });
    expect(thrownBy(() => writeFileAtomic(file, 'new')).code).toBe('OUTPUT_UNWRITABLE');
    expect(existsSync(join(file, 'inside'))).toBe(true);
    expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([]);
  });

  test('a folder appears only when it is whole', async () => {
    const target = join(folder, 'steps', 'step-1');
    await writeFolderAtomic(target, async (partial) => {
      writeFileSync(join(partial, 'a'), '1');
      expect(existsSync(target)).toBe(false);
    });
    expect(readdirSync(target)).toEqual(['a']);
    await writeFolderAtomic(target, async (partial) => writeFileSync(join(partial, 'b'), '2'));
    expect(readdirSync(target)).toEqual(['b']);
    expect(readdirSync(join(folder, 'steps'))).toEqual(['step-1']);
  });

  test('a folder whose filling fails does not appear, and the failure is passed on', async () => {
    const target = join(folder, 'steps', 'step-2');
    await expect(
      writeFolderAtomic(target, () => Promise.reject(new Error('half way'))),
    ).rejects.toThrow('half way');
    expect(readdirSync(join(folder, 'steps'))).toEqual(['step-1']);
    const below = join(writeBelow(folder, 'b-file', ''), 'step');
    await expectRejection(
      writeFolderAtomic(below, async () => undefined),
      'OUTPUT_UNWRITABLE',
    );
  });
});

const redact = redactor({ OPENAI_API_KEY: 'sk-planted-1234', HOME: '/home/someone' });

describe('A log', () => {
  test('writes dated lines with facts from its level upwards', async () => {
    const file = join(folder, 'levels.log');
    const log = createLog({ level: 'info', file, console: 'none' });
    log.info('step done', { reward: 0.5 });
    log.debug('not this');
    log.error('it broke');
    await log.close();
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z info step done \{"reward":0\.5\}$/);
    expect(lines[1]).toMatch(/ error it broke$/);
  });

  test('hides secrets of the environment in messages, facts and errors', async () => {
    const file = join(folder, 'secrets.log');
    const log = createLog({ level: 'debug', file, console: 'none', redact });
    log.info('key sk-planted-1234 used', { deep: { list: ['sk-planted-1234'] } });
    log.error('failed', { error: new Error('401 for sk-planted-1234') });
    await log.close();
    const logged = text(file);
    expect(logged).not.toContain('planted');
    expect(logged.match(/\[redacted\]/g)?.length).toBeGreaterThanOrEqual(3);
  });

  test('is refused immediately where it cannot be opened', () => {
    const file = join(folder, 'no', 'such', 'folder.log');
    expect(thrownBy(() => createLog({ level: 'info', file, console: 'none' })).code).toBe(
      'OUTPUT_UNWRITABLE',
    );
  });
});

describe('The redactor', () => {
  const telling =
    'TAVILY_API_KEY github_token DB_PASSWORD MONKEYS DB_PWD MYSQL_PWD PGPASSWORD HTTP_AUTH AUTHORIZATION SENTRY_DSN GITHUB_PAT SSH_PASSPHRASE SMTP_PASS SESSION_COOKIE BEARER SSH_PRIVATE SUPABASE_JWT';
  const others = 'PWD OLDPWD PATH GIT_AUTHOR_NAME XAUTHORITY COMPASS PATTERN PRIVATEER';
  test.each([
    ...telling.split(' ').map((name) => ['hides', name] as const),
    ...others.split(' ').map((name) => ['shows', name] as const),
  ])('%s the value of %s', (what, name) => {
    // The second is a switch.
    const environment = { [name]: 'hunter-22', USE_TOKEN: '1' };
    expect(secretValues(environment)).toEqual(what === 'hides' ? ['hunter-22'] : []);
  });

  test('hides passwords in URLs, whatever the variable is called', () => {
    const environment = {
      DATABASE_URL: 'postgres://ada:p%40ssw0rd@db.example/x',
      PROXIES: 'http://bob:abc@one, https://carol:longer-one@two:8080/',
      HOMEPAGE: 'https://example.org:8080/a@b',
    };
    const hide = redactor(environment);
    expect(hide(environment.DATABASE_URL)).toBe('postgres://ada:[redacted]@db.example/x');
    expect(hide('refused p@ssw0rd')).toBe('refused [redacted]');
    expect(hide(environment.PROXIES)).toBe(
      'http://[redacted]one, https://carol:[redacted]@two:8080/',
    );
    expect(hide(environment.HOMEPAGE)).toBe(environment.HOMEPAGE);
    expect(withoutSecrets(environment)).toEqual({ HOMEPAGE: environment.HOMEPAGE });
  });

  test('hides a secret whole that contains another one, and in its JSON form', () => {
    const hide = redactor({ A_KEY: 'abcdef', B_KEY: 'abcdefghi', A_SECRET: 'two\nlines"' });
    expect(hide('abcdefghi abcdef')).toBe('[redacted] [redacted]');
    expect(hide(JSON.stringify({ a: 'two\nlines"' }))).toBe('{"a":"[redacted]"}');
  });

  test('hides secrets in data that contains itself', () => {
    const value: Record<string, unknown> = { a: 'sk-planted-1234' };
    value['self'] = value;
    expect(redactDeep(value, redact)).toEqual({ a: '[redacted]', self: '[circular]' });
  });
});
