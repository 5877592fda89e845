import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { attacks } from '#tests/attacks/cases/index.ts';
import { choose, flagProblem } from '#tests/attacks/choose.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { nodeProgram } from '#tests/support/built-program.ts';

const all = { backends: [], cases: [] } as const;

describe('The attack suite', () => {
  test('runs a whole theme by its name, attacks and backends by a part of theirs', () => {
    const { attacks: chosen, hacks } = choose({ ...all, cases: ['network'] });
    expect(Object.fromEntries(chosen)['network']).toEqual(attacks['network']);
    expect(hacks).toEqual([]);
    expect(choose({ ...all, cases: ['reward hacks'] }).hacks.length).toBeGreaterThan(50);
    const part = choose({ backends: ['native'], cases: ['an endless loop'] });
    const names = part.attacks.flatMap(([, some]) => some.map(({ name }) => name));
    expect(names).toContain('an endless loop');
    expect(part.backends.map(({ name }) => name)).toEqual(['native:ns', 'native:lite']);
  });

  test.each([
    [{ lanes: '0' }, /^--lanes is 0; [^\n]*1 to 999\.$/],
    [{ cases: ['zzz'] }, /^--case: [^\n]*zzz[^\n]*network/],
    [{ backends: ['remote'] }, /^--backend: [^\n]*remote[^\n]*native:ns,/],
  ])('refuses wrong flags in one line: %j', (given, reason) => {
    expect(flagProblem({ ...all, lanes: '2', ...given })).toMatch(reason);
    expect(flagProblem({ ...all, lanes: '2' })).toBeUndefined();
  });

  test('ends with exit code 1 and only that line for wrong flags', () => {
    const main = join(packageRoot(), 'dist', 'tests', 'attacks', 'main.js');
    const { code, stdout, stderr } = nodeProgram([main, '--case', 'zzz'], packageRoot());
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^--case: .*zzz.*\n$/);
  });
});
