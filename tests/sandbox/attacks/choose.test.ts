import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { attacks } from '#tests/attacks/cases/index.ts';
import { choose, flagProblem } from '#tests/attacks/choose.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { nodeProgram } from '#tests/support/built-program.ts';

const all = { backends: [], cases: [] } as const;

describe('The flags of the attack suite', () => {
  test('pick a whole theme by its name', () => {
    const { attacks: chosen, hacks } = choose({ ...all, cases: ['network'] });
    expect(Object.fromEntries(chosen)['network']).toEqual(attacks['network']);
    expect(hacks).toEqual([]);
    const themed = choose({ ...all, cases: ['reward hacks'] });
    expect(themed.hacks.length).toBeGreaterThan(50);
  });

  test('pick an attack by a part of its name, and backends', () => {
    const chosen = choose({ backends: ['native'], cases: ['an endless loop'] });
    expect(chosen.attacks.flatMap(([, some]) => some.map(({ name }) => name))).toContain(
      'an endless loop',
    );
    expect(chosen.backends.map(({ name }) => name)).toEqual(['native:ns', 'native:lite']);
  });

  test.each([
    [{ lanes: '0' }, /^--lanes is 0; expected a whole number, from 1 to 999\.$/],
    [{ lanes: 'x' }, /^--lanes is x;/],
    [
      { cases: ['zzz'] },
      /^--case: no attack and no theme is named like zzz\. The themes are .*network/,
    ],
    [
      { backends: ['remote'] },
      /^--backend: no backend is named like remote\. There are native:ns,/,
    ],
  ])('that are wrong are told in a line: %j', (given, reason) => {
    expect(flagProblem({ ...all, lanes: '2', ...given })).toMatch(reason);
    expect(flagProblem({ ...all, lanes: '2' })).toBeUndefined();
  });

  test('that are wrong end the suite with 1 and that line alone', () => {
    const main = join(packageRoot(), 'dist', 'tests', 'attacks', 'main.js');
    const { code, stdout, stderr } = nodeProgram([main, '--case', 'zzz'], packageRoot());
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^--case: no attack .* zzz\..*\n$/);
  });
});
