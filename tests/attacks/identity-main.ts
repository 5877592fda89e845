import { writeFileSync } from 'node:fs';

import { type Backend, offered } from './backends.ts';
import { choose, type Chosen, themeOfHacks } from './choose.ts';
import type { InheritedFile } from './host/host.ts';
import { reportText, type SuiteReport } from './report.ts';
import type { Finding } from './run-attack.ts';
import { honestSolutions } from './reward-hacks.ts';
import { runRewardHacks } from './run-reward-hacks.ts';
import { runSuite } from './run-suite.ts';

/*
 * Runs attacks in this process, as its current user. The first argument is the settings as JSON.
 */

export interface IdentitySettings {
  identity: string;
  /** Parts of names; empty for all. */
  backends: readonly string[];
  cases: readonly string[];
  lanes: number;
  inherited: InheritedFile;
  /** File for the reports as JSON. */
  report: string;
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);

async function attack(
  backend: Backend,
  { attacks, hacks }: Chosen,
  { identity, lanes, inherited }: IdentitySettings,
): Promise<SuiteReport> {
  const started = performance.now();
  const all = attacks.flatMap(([, some]) => some);
  const findings = await runSuite(backend, { attacks: all, lanes, inherited });
  const found = new Map(findings.map((finding) => [finding.attack, finding]));
  const themes: Record<string, readonly Finding[]> = {};
  for (const [theme, some] of attacks) {
    themes[theme] = some.flatMap(({ name }) => found.get(name) ?? []);
  }
  themes[themeOfHacks] = await judgeHacks(backend, hacks);
  themes['left behind'] = findings.slice(-1);
  const wallS = (performance.now() - started) / 1000;
  return { backend: backend.name, identity, themes, wallS };
}

async function judgeHacks(backend: Backend, hacks: Chosen['hacks']): Promise<readonly Finding[]> {
  if (hacks.length === 0) return [];
  const sandbox = await backend.start({ workers: 2, onIncident: () => undefined });
  try {
    return await runRewardHacks(sandbox, honestSolutions, hacks);
  } finally {
    await sandbox.close();
  }
}

async function main(settings: IdentitySettings): Promise<void> {
  const chosen = choose(settings);
  const { present, absent } = await offered(chosen.backends);
  for (const { name, why } of absent)
    say(`${name} as ${settings.identity}: not available on this machine. ${why}\n`);
  const reports: SuiteReport[] = [];
  for (const backend of present) {
    const report = await attack(backend, chosen, settings);
    say(reportText(report));
    reports.push(report);
  }
  writeFileSync(settings.report, JSON.stringify(reports));
}

if (import.meta.filename === process.argv[1]) {
  await main(JSON.parse(process.argv[2] ?? '{}') as IdentitySettings);
}
