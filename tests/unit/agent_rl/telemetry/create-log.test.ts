import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { createLog, redactor } from '#agent_rl/telemetry/index.ts';
import { redactDeep, secretValues, withoutSecrets } from '#agent_rl/telemetry/redact.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { thrownBy } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
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
    const text = readFileSync(file, 'utf8');
    expect(text).not.toContain('planted');
    expect(text.match(/\[redacted\]/g)?.length).toBeGreaterThanOrEqual(3);
  });

  test('is refused immediately where it cannot be opened', () => {
    const file = join(folder, 'no', 'such', 'folder.log');
    expect(thrownBy(() => createLog({ level: 'info', file, console: 'none' })).code).toBe(
      'OUTPUT_UNWRITABLE',
    );
  });
});

describe('The redactor', () => {
  test('hides values of variables with telling names, not switches and ordinary values', () => {
    const environment = {
      TAVILY_API_KEY: 'tvly-abcdef',
      github_token: 'ghp_123456',
      DB_PASSWORD: 'hunter22',
      MONKEYS: 'bananas',
      USE_TOKEN: '1',
      PATH: '/usr/bin',
    };
    const secrets = ['bananas', 'ghp_123456', 'hunter22', 'tvly-abcdef'];
    expect(secretValues(environment).toSorted()).toEqual(secrets);
  });

  const telling =
    'DB_PWD MYSQL_PWD PGPASSWORD HTTP_AUTH AUTHORIZATION SENTRY_DSN GITHUB_PAT SSH_PASSPHRASE SMTP_PASS SESSION_COOKIE BEARER SSH_PRIVATE SUPABASE_JWT';
  const others = 'PWD OLDPWD PATH GIT_AUTHOR_NAME XAUTHORITY COMPASS PATTERN PRIVATEER';
  test.each([
    ...telling.split(' ').map((name) => ['hides', name] as const),
    ...others.split(' ').map((name) => ['shows', name] as const),
  ])('%s the value of %s', (what, name) => {
    expect(secretValues({ [name]: 'hunter-22' })).toEqual(what === 'hides' ? ['hunter-22'] : []);
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
