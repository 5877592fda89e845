import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';

const textOf = (...path: string[]): string => readFileSync(join(packageRoot(), ...path), 'utf8');

interface Locked {
  hasInstallScript?: boolean;
  dev?: boolean;
}

const locked = Object.entries(
  (JSON.parse(textOf('package-lock.json')) as { packages: Record<string, Locked> }).packages,
).filter(([, { hasInstallScript }]) => hasInstallScript);

const decidedIn = (...path: string[]): string[] =>
  Object.keys((JSON.parse(textOf(...path)) as { allowScripts: object }).allowScripts);

const nameOf = (path: string): string => path.split('node_modules/').at(-1) ?? '';

describe('package.json decides on every install script, so that npm 11 does not warn', () => {
  test('the decisions cover this repository', () => {
    const names = new Set(locked.map(([path]) => nameOf(path)));
    expect(decidedIn('package.json')).toEqual([...names].toSorted());
  });

  test('the decisions cover what a new project installs', () => {
    const installed = locked.filter(([, { dev }]) => dev !== true).map(([path]) => nameOf(path));
    expect(decidedIn('templates', 'project', '_package.json')).toEqual(
      expect.arrayContaining(installed),
    );
  });
});

test('git ignores the tarball of npm pack, here and in a new project', () => {
  expect(textOf('.gitignore').split('\n')).toContain('*.tgz');
  expect(textOf('templates', 'project', '_gitignore').split('\n')).toContain('*.tgz');
});
