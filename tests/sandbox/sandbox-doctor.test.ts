import { expect, test } from '@jest/globals';

import { sandboxDoctor } from '#agent_rl/jobs/machine/sandbox-doctor.ts';
import { tierFacts } from '#agent_rl/sandbox/tier-facts.ts';
import { offersLevel } from '../support/python.ts';

async function examined(options: object) {
  const lines: string[] = [];
  const found = await sandboxDoctor({ print: (line) => lines.push(line), ...options });
  return { ...found, lines, available: found.findings.map(({ available }) => available) };
}

test('The sandbox doctor starts and probes every level, and says what it stops', async () => {
  const { ok, auto, findings, lines, available } = await examined({});
  expect(ok).toBe(true);
  expect(findings.map(({ tier }) => tier)).toEqual(['native:ns', 'native:lite', 'pyodide']);
  expect(available).toEqual([offersLevel('ns'), offersLevel('lite'), true]);
  expect(auto).toBe(findings[available.indexOf(true)]?.tier);
  expect(lines.at(-1)).toMatch(
    auto === 'native:ns'
      ? /selects native:ns, the strongest sandbox\.$/
      : /selects \S+ instead of native:ns/,
  );
  for (const { tier, available: here, misses, probes, escaped, stops, doesNotStop } of findings) {
    expect({ stops, doesNotStop }).toEqual(tierFacts[tier]);
    const line = lines.find((each) => each.includes(tier)) ?? '';
    expect(escaped).toEqual([]);
    const held = new RegExp(`${probes} of ${probes} attacks stopped[^]*no protection`);
    expect(line).toMatch(here ? held : /^no /);
    for (const what of misses) expect(line).toContain(`missing here   ${what}`);
  }
}, 120_000);

test('The sandbox doctor tries the preloaded modules', async () => {
  const { ok, auto, lines, available } = await examined({ preload: ['no_such_module'] });
  expect([ok, auto, ...available]).toEqual([false, null, false, false, false]);
  expect(lines.join('\n')).toMatch(/no   pyodide .*no_such_module/);
  expect(lines.at(-1)).toBe('No sandbox is available on this machine; the reasons are above.');
  for (const level of ['ns', 'lite'] as const) {
    if (!offersLevel(level)) continue;
    expect(lines.join('\n')).toContain(
      `native:${level} is not available here: sandbox.preload lists no_such_module, but /usr/bin/python3 does not have this module. Install it`,
    );
  }
}, 120_000);
