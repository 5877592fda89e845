import type {
  RunRequest,
  RunResult,
  Sandbox,
  SandboxLimits,
} from '../../agent_rl/core/services/sandbox.ts';
import { messageOf } from '../../agent_rl/core/errors.ts';
import { type Attack, type Bystander, written } from './attack.ts';
import type { Bait } from './host/bait.ts';
import type { Host } from './host/host.ts';

/** The outcome of one attack, which was contained if there are no problems. */
export interface Finding {
  attack: string;
  status: string;
  wallMs: number;
  problems: readonly string[];
  /** The end of its output, if there are problems. */
  output?: string;
}

const memoryMiB = 256;
/** Limit of attacks that only their deadline ends. */
const shortS = 1.5;
/** Limit of other attacks; a cold import takes a while in WebAssembly on a busy machine. */
const longS = 8;
/** Time for an answer beyond the limit of a program. */
const graceMs = 3000;
/** Time beyond the limit of a program after which the sandbox is given up. */
const patienceMs = 20_000;
const mostOutputChars = 65_536;
const healthy = { code: 'print(6 * 7)', limits: { wallS: 20 } };

type Ended = Pick<RunResult, 'status' | 'stdout' | 'stderr' | 'message'> & Partial<RunResult>;

/** Runs one attack, and reports what the host saw of it and whether the sandbox still works. */
export async function runAttack(attack: Attack, sandbox: Sandbox, host: Host): Promise<Finding> {
  const { bait } = host;
  for (const { code, stdin, ...rest } of attack.before ?? []) {
    await patiently(sandbox, { ...rest, ...requestOf(code, stdin, bait) });
  }
  const unwatch = host.watch();
  const bystander =
    attack.beside && patiently(sandbox, requestOf(attack.beside.code, attack.beside.stdin, bait));
  const started = performance.now();
  const ended = await patiently(sandbox, attackRequest(attack, bait));
  const wallMs = performance.now() - started;
  const left = await bystander;
  const harm = await unwatch(attack.settleMs);
  const problems = [
    ...harm,
    ...host.secretsIn(ended.stdout + ended.stderr),
    ...problemsOf(attack, ended, wallMs),
    ...(left && attack.beside ? harmTo(attack.beside, left, bait) : []),
    ...(await healthProblems(sandbox)),
  ];
  const output = `${ended.stdout}\n${ended.stderr}`.trim().slice(-400);
  const finding = { attack: attack.name, status: ended.status, wallMs: Math.round(wallMs) };
  return { ...finding, problems, ...(problems.length > 0 && { output }) };
}

const requestOf = (code: Attack['code'], stdin: Bystander['stdin'], bait: Bait): RunRequest => ({
  // A value that is not a string is passed on unchanged, to test the sandbox with it.
  code:
    typeof code === 'string' || typeof code === 'function' ? written(code, bait) : (code as never),
  ...(stdin !== undefined && { stdin: written(stdin, bait) }),
  limits: { wallS: longS, memoryMiB },
});

const limitsOf = ({ ends, limits }: Attack): Required<SandboxLimits> => {
  const wallS = ends.includes('timeout') ? shortS : longS;
  return { wallS, memoryMiB, ...limits };
};

const attackRequest = (attack: Attack, bait: Bait): RunRequest => {
  const { code, stdin, files: given } = attack;
  const files = typeof given === 'function' ? given(bait) : given;
  const request = { ...requestOf(code, stdin, bait), limits: limitsOf(attack) };
  return { ...request, ...(files !== undefined && { files }) };
};

/** Never throws: a sandbox that throws or does not answer is a finding. */
async function patiently(sandbox: Sandbox, request: RunRequest): Promise<Ended> {
  const limitMs = 1000 * (request.limits?.wallS ?? 0) + patienceMs;
  let timer: NodeJS.Timeout | undefined;
  const givenUp = new Promise<Ended>((resolve) => {
    const message = `no answer after ${limitMs / 1000} s`;
    timer = setTimeout(() => resolve(failed(message)), limitMs);
  });
  const run = sandbox
    .execute({ kind: 'run', ...request })
    .catch((error: unknown) => failed(`threw ${messageOf(error)}`));
  const ended = await Promise.race([run, givenUp]);
  clearTimeout(timer);
  return ended;
}

const silent = { stdout: '', stderr: '' };
const failed = (message: string): Ended => ({ status: 'sandbox_error', ...silent, message });

function problemsOf(attack: Attack, ended: Ended, wallMs: number): string[] {
  const { ends, says = '' } = attack;
  const { status, stdout, stderr, message = '' } = ended;
  const printed = `${stdout}\n${stderr}`;
  // A traceback indents the lines of the program it shows.
  const problems = [...new Set(printed.match(/^LEAK.*/gm))]
    .slice(0, 4)
    .map((line) => line.slice(0, 160));
  if (!ends.includes(status))
    problems.push(`ended with ${status}, allowed: ${ends.join(', ')}. ${message}`.trim());
  if (!printed.includes(says)) problems.push(`did not print ${JSON.stringify(says)}`);
  for (const text of [stdout, stderr]) {
    if (text.length > mostOutputChars)
      problems.push(`returned ${text.length} characters of output`);
  }
  const limitMs = 1000 * limitsOf(attack).wallS;
  if (wallMs > limitMs + graceMs) problems.push(`ran for ${(wallMs / 1000).toFixed(1)} s`);
  return problems;
}

function harmTo({ prints }: Bystander, left: Ended, bait: Bait): readonly string[] {
  if (left.status === 'ok' && left.stdout === written(prints, bait)) return [];
  const end = `${left.status} ${left.message ?? ''} ${JSON.stringify((left.stdout + left.stderr).slice(-200))}`;
  return [`harmed the program beside it, which ended with ${end}`];
}

/** Checks every worker, with one program for each. */
async function healthProblems(sandbox: Sandbox): Promise<readonly string[]> {
  const { concurrency } = sandbox.capabilities();
  const running = Array.from({ length: concurrency }, () => patiently(sandbox, healthy));
  const sick = (await Promise.all(running)).find(
    ({ status, stdout }) => status !== 'ok' || stdout !== '42\n',
  );
  return sick ? [`${brokenSandbox}: ${sick.status} ${sick.message ?? ''} ${sick.stdout}`] : [];
}

export const brokenSandbox = 'left a sandbox that no longer works';
