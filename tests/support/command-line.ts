import { Readable } from 'node:stream';

import type { JobResult } from '#agent_rl/jobs/job.ts';
import type { Jobs } from '#agent_rl/jobs/jobs.ts';
import type { MainOptions } from '#agent_rl/cli/command.ts';
import { main } from '#agent_rl/cli/main.ts';

/** What a command wrote and how it left. */
export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Jobs that all fail, except the given ones. */
const jobsWith = (some: Partial<Jobs>): Jobs =>
  new Proxy(some, {
    get: (given, name: keyof Jobs) =>
      given[name] ?? (() => Promise.reject(new Error(`The job ${name} was not expected to run.`))),
  }) as Jobs;

/** Runs a command line in this process. */
export async function commandLine(
  args: readonly string[],
  { jobs = {}, only, input, columns, signal }: CommandLineOptions = {},
): Promise<Ran> {
  const written = { stdout: '', stderr: '' };
  const code = await main(args, {
    jobs: jobsWith(jobs),
    programName: 'agent-rl',
    io: {
      ...(input !== undefined && { stdin: () => Readable.from([input]) }),
      stdout: { write: (text) => (written.stdout += text), isTTY: columns !== undefined, columns },
      stderr: { write: (text) => (written.stderr += text) },
      signal: signal ?? new AbortController().signal,
    },
    only,
  });
  return { code, ...written };
}

/** Runs a command line, whose words spaces separate, with a job that keeps its options and returns `result`. */
export async function jobOf<Name extends keyof Jobs>(
  name: Name,
  line: string,
  { result = {}, ...options }: CommandLineOptions & { result?: JobResult } = {},
): Promise<Ran & { given: Parameters<Jobs[Name]>[0] }> {
  const given: Parameters<Jobs[Name]>[0][] = [];
  const job = async (of: Parameters<Jobs[Name]>[0]) => {
    given.push(of);
    return result;
  };
  const ran = await commandLine(line.split(' '), { ...options, jobs: { [name]: job } });
  const [only] = given;
  if (only === undefined) throw new Error(ran.stderr);
  return { ...ran, given: only };
}

export interface CommandLineOptions {
  jobs?: Partial<Jobs>;
  only?: MainOptions['only'];
  /** What is piped into it. */
  input?: string;
  /** Of the terminal that it writes to; without them, a pipe. */
  columns?: number;
  signal?: AbortSignal;
}
