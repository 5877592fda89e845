import { messageOf } from '../../core/errors.ts';
import type { Sandbox } from '../../core/services/sandbox.ts';
import { isMissingProtection, type SandboxIncident } from '../../sandbox/incident.ts';
import { startBackend, type SandboxTier } from '../../sandbox/choose-backend.ts';
import { behindLayers } from '../../sandbox/open-sandbox.ts';
import { kernelProbes } from '../../sandbox/probes/kernel-probes.ts';
import { escapeProbes } from '../../sandbox/probes/escape-probes.ts';
import { tryProbes } from '../../sandbox/probes/probe-escapes.ts';
import { tierFacts, type TierFacts } from '../../sandbox/tier-facts.ts';

const tiers: readonly SandboxTier[] = ['native:ns', 'native:lite', 'pyodide'];

/** What was found out about one level of the sandbox. */
export interface TierFinding extends TierFacts {
  tier: SandboxTier;
  available: boolean;
  /** Why it is not, or what it is. */
  detail: string;
  /** What the level protects elsewhere and this machine does not let it. */
  misses: readonly string[];
  probes: number;
  /** Names of the probes that reached the host; empty where all held. */
  escaped: readonly string[];
}

export interface SandboxDoctorOptions {
  /** The Python of the native sandboxes. */
  python?: string;
  /** Modules that programs are to have. */
  preload?: readonly string[];
  print: (text: string) => void;
}

/**
 * Starts every level of the sandbox that this machine may have, attacks it, and says what it holds back.
 *
 * @returns `ok` when some level is there and none that is there lets a probe out, and in `auto` what `sandbox.type: auto` would take
 */
export async function sandboxDoctor(options: SandboxDoctorOptions) {
  const findings: TierFinding[] = [];
  for (const tier of tiers) {
    const finding = await examine(tier, options);
    options.print(described(finding));
    findings.push(finding);
  }
  const auto = findings.find(({ available }) => available)?.tier ?? null;
  options.print(conclusion(auto, findings));
  const ok = auto !== null && findings.every(({ escaped }) => escaped.length === 0);
  return { ok, auto, findings };
}

function conclusion(auto: SandboxTier | null, findings: readonly TierFinding[]): string {
  if (auto === null) return 'No sandbox is available on this machine; the reasons are above.';
  const stronger = findings.slice(
    0,
    findings.findIndex(({ tier }) => tier === auto),
  );
  if (stronger.length === 0)
    return `On this machine, sandbox.type auto selects ${auto}, the strongest sandbox.`;
  const reasons = [...new Set(stronger.map(({ detail }) => detail))];
  return `On this machine, sandbox.type auto selects ${auto} instead of ${stronger.map(({ tier }) => tier).join(' or ')}: ${reasons.join(' ')}`;
}

async function examine(tier: SandboxTier, options: SandboxDoctorOptions): Promise<TierFinding> {
  const probes = tier === 'pyodide' ? escapeProbes : kernelProbes;
  const started = performance.now();
  const facts = { tier, ...tierFacts[tier] };
  const misses: string[] = [];
  const onIncident = (incident: SandboxIncident): void => {
    if (isMissingProtection(incident)) misses.push(incident.message);
  };
  let sandbox: Sandbox;
  try {
    const backend = await startBackend(tier, { ...options, type: tier, workers: 1, onIncident });
    sandbox = behindLayers(backend, { workers: 1 });
  } catch (error) {
    const detail = messageOf(error);
    return { ...facts, available: false, detail, misses, probes: 0, escaped: [] };
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  try {
    const { level, python } = sandbox.capabilities();
    const escaped = await tryProbes((code) => sandbox.execute({ kind: 'run', code }), probes);
    const detail = `${level}, Python ${python}, ready after ${seconds} s`;
    return {
      ...facts,
      available: true,
      detail,
      misses,
      probes: Object.keys(probes).length,
      escaped,
    };
  } finally {
    await sandbox.close();
  }
}

function described(finding: TierFinding): string {
  const { tier, available, detail, misses, probes, escaped, stops, doesNotStop } = finding;
  if (!available) return `no   ${tier.padEnd(12)} ${detail}`;
  const held = `${probes - escaped.length} of ${probes} attacks stopped`;
  const out = escaped.length === 0 ? held : `${held}; NOT stopped: ${escaped.join(', ')}`;
  return [
    `${escaped.length === 0 ? 'yes ' : 'NO  '} ${tier.padEnd(12)} ${detail}; ${out}`,
    `       stops          ${stops.join('; ')}`,
    `       no protection  ${doesNotStop.join('; ')}`,
    ...misses.map((what) => `       missing here   ${what}`),
  ].join('\n');
}
