import { accessSync, constants } from 'node:fs';
import { availableParallelism, cpus, freemem, totalmem } from 'node:os';
import { resolve } from 'node:path';

import { messageOf } from '../../core/errors.ts';
import { isMissingProtection } from '../../sandbox/incident.ts';
import { openSandbox, type OpenedSandbox } from '../../sandbox/open-sandbox.ts';
import { tierFacts } from '../../sandbox/tier-facts.ts';
import { tryDevices } from './try-devices.ts';

/** One thing that was looked at. */
export interface Finding {
  name: string;
  available: boolean;
  /** Whether the default job needs it. */
  required: boolean;
  /** What was found, or what is missing. */
  detail: string;
  /** What else is to be known of it, a line each. */
  notes?: readonly string[];
}

const optionalPeers = {
  '@huggingface/transformers': 'policy transformers-js and dense: transformers',
  '@tensorflow/tfjs-node-gpu': 'device tensorflow',
} as const;

const oldestNode = [20, 19] as const;

function nodeFinding(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [oldMajor, oldMinor] = oldestNode;
  const available = major > oldMajor || (major === oldMajor && minor >= oldMinor);
  const wanted = available ? '' : `; at least ${oldestNode.join('.')} is needed`;
  const detail = `${process.version} on ${process.platform} ${process.arch}${wanted}`;
  return { name: 'node', available, required: true, detail };
}

const found = { available: true, required: true };

const gibibytes = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`;

function machineFindings(): readonly Finding[] {
  const model = cpus()[0]?.model.trim() ?? 'unknown model';
  const memory = `${gibibytes(freemem())} free of ${gibibytes(totalmem())}`;
  return [
    { ...found, name: 'processors', detail: `${availableParallelism()} x ${model}` },
    { ...found, name: 'memory', detail: memory },
  ];
}

function outputFinding(): Finding {
  const folder = resolve('.');
  try {
    accessSync(folder, constants.W_OK);
    return { ...found, name: 'output', detail: `${folder} can be written` };
  } catch (error) {
    return { name: 'output', available: false, required: true, detail: messageOf(error) };
  }
}

function peerFindings(): readonly Finding[] {
  return Object.entries(optionalPeers).map(([name, use]) => {
    try {
      import.meta.resolve(name);
      return { name, available: true, required: false, detail: `installed, for ${use}` };
    } catch {
      // Not finding it is the answer, not a failure.
      const detail = `not installed; for ${use}: npm install ${name}`;
      return { name, available: false, required: false, detail };
    }
  });
}

async function deviceFindings(): Promise<readonly Finding[]> {
  try {
    const devices = await tryDevices();
    return devices.map(({ device, available, detail }) => ({
      name: `device ${device}`,
      available,
      required: device === 'cpu',
      detail,
    }));
  } catch (error) {
    return [{ name: 'devices', available: false, required: true, detail: messageOf(error) }];
  }
}

/** Starts the sandbox and runs a program in it: that it is installed does not mean that it holds. */
async function sandboxFinding(): Promise<Finding> {
  const finding = { name: 'sandbox', required: true };
  try {
    const sandbox = await openSandbox({ type: 'auto', workers: 1, limits: { wallS: 10 } });
    try {
      const { level, python } = sandbox.capabilities();
      const { status, message, stdout } = await sandbox.execute({
        kind: 'run',
        code: 'print(6 * 7)',
      });
      const available = status === 'ok' && stdout.trim() === '42';
      const detail = available
        ? `${level}, Python ${python}`
        : `a test program ended with status ${status}: ${message}`;
      return { ...finding, available, detail, notes: sandboxNotes(sandbox) };
    } finally {
      await sandbox.close();
    }
  } catch (error) {
    return { ...finding, available: false, detail: messageOf(error) };
  }
}

/** What the sandbox that was chosen is not, and why. */
export const sandboxNotes = ({
  skipped,
  incidents,
  tier,
}: Pick<OpenedSandbox, 'skipped' | 'incidents' | 'tier'>): string[] => [
  ...skipped.map((why) => `skipped: ${why}`),
  ...incidents.all
    .filter(isMissingProtection)
    .map(({ message }) => `missing protection: ${message}`),
  `does not protect against: ${tierFacts[tier].doesNotStop.join('; ')}`,
];

const line = ({ name, available, required, detail, notes = [] }: Finding): string => {
  const mark = available ? 'yes' : required ? 'NO ' : 'no ';
  const first = `${mark}  ${name.padEnd(28)} ${detail.split('\n', 1)[0]}`;
  return [first, ...notes.map((note) => `${' '.repeat(34)}${note}`)].join('\n');
};

/** Looks at what a run would need and shows it; `ok` when the default job can run. */
export async function doctor({ print }: { print: (text: string) => void }) {
  const findings = [
    nodeFinding(),
    ...machineFindings(),
    outputFinding(),
    await sandboxFinding(),
    ...(await deviceFindings()),
    ...peerFindings(),
  ];
  const ok = findings.every(({ available, required }) => available || !required);
  print(findings.map(line).join('\n'));
  print(ok ? 'The default job can run here.' : 'The default job cannot run here: see NO above.');
  return { ok, findings };
}
