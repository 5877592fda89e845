import { writeFileSync } from 'node:fs';

import { attacks } from './cases/index.ts';
import { offered, packageBackends } from './backends.ts';
import type { InheritedFile } from './host/host.ts';
import { reportText, type SuiteReport } from './report.ts';
import type { Finding } from './run-attack.ts';
import { honestSolutions, rewardHacks } from './reward-hacks.ts';
import { runRewardHacks } from './run-reward-hacks.ts';
import { runSuite } from './run-suite.ts';
import type { Backend } from './backend.ts';

/*
 * Runs attacks in this process, as the user it was started as. Settings are JSON in the first argument.
 */

export interface IdentitySettings {
  readonly identity: string;
  /** Parts of names; without any, all. */
  readonly backends: readonly string[];
  readonly cases: readonly string[];
  readonly lanes: number;
  readonly inherited: InheritedFile;
  /** Where the reports are written, as JSON. */
  readonly report: string;
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const matches = (parts: readonly string[], name: string): boolean =>
  parts.length === 0 || parts.some((part) => name.includes(part));

async function attack(backend: Backend, settings: IdentitySettings): Promise<SuiteReport> {
  const { identity, lanes, inherited, cases } = settings;
  const chosen = Object.entries(attacks).map(
    ([theme, all]) => [theme, all.filter(({ name }) => matches(cases, name))] as const,
  );
  const started = performance.now();
  const findings = await runSuite(backend, {
    attacks: chosen.flatMap(([, some]) => some),
    lanes,
    inherited,
  });
  const found = new Map(findings.map((finding) => [finding.attack, finding]));
  const themes: Record<string, readonly Finding[]> = {};
  for (const [theme, some] of chosen) {
    themes[theme] = some.flatMap(({ name }) => found.get(name) ?? []);
  }
  themes['reward hacks'] = await judgeHacks(backend, cases);
  themes['left behind'] = findings.slice(-1);
  const wallS = (performance.now() - started) / 1000;
  return { backend: backend.name, identity, themes, wallS };
}

async function judgeHacks(backend: Backend, cases: readonly string[]): Promise<readonly Finding[]> {
  const hacks = rewardHacks.filter(({ name }) => matches(cases, name));
  if (hacks.length === 0) return [];
  const sandbox = await backend.start({ workers: 2, onIncident: () => undefined });
  try {
    return await runRewardHacks(sandbox, honestSolutions, hacks);
  } finally {
    await sandbox.close();
  }
}

async function main(settings: IdentitySettings): Promise<void> {
  const named = [...Object.values(attacks).flat(), ...rewardHacks].filter(({ name }) =>
    matches(settings.cases, name),
  );
  if (named.length === 0) throw new Error(`No attack is named like ${settings.cases.join(', ')}.`);
  const wanted = packageBackends.filter(({ name }) => matches(settings.backends, name));
  if (wanted.length === 0)
    throw new Error(`No backend is named like ${settings.backends.join(', ')}.`);
  const { present, absent } = await offered(wanted);
  for (const { name, why } of absent)
    say(`${name} as ${settings.identity}: not on this machine. ${why}\n`);
  const reports: SuiteReport[] = [];
  for (const backend of present) {
    const report = await attack(backend, settings);
    say(reportText(report));
    reports.push(report);
  }
  writeFileSync(settings.report, JSON.stringify(reports));
}

if (import.meta.filename === process.argv[1]) {
  await main(JSON.parse(process.argv[2] ?? '{}') as IdentitySettings);
}
