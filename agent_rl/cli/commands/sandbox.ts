import { availableParallelism } from 'node:os';

import type { LocalSandboxType } from '../../jobs/job.ts';
import type { Command, CommandGroup } from '../command.ts';
import { printer, writeJson } from '../io.ts';
import { localSandboxTypes } from '../local-sandbox-types.ts';
import { numberOf, textOf } from './prepare-data/prepare-data-settings.ts';

const json = {
  type: 'boolean',
  default: false,
  describe: 'Print the result as JSON on stdout',
} as const;
const python = {
  type: 'string',
  requiresArg: true,
  describe: 'Python of the native sandbox, by its path or its name on PATH',
} as const;
const preload = {
  type: 'string',
  array: true,
  requiresArg: true,
  default: [],
  describe: 'Modules programs may import',
} as const;
/** Numbers are read as they were written, so that what is none can be shown. */
const written = { type: 'string', requiresArg: true } as const;

const serve: Command = {
  name: 'serve',
  describe: 'Let others run programs here: remote sandboxes, and callers of POST /run_code',
  options: {
    port: { ...written, default: '8080', describe: 'Port; 0 takes a free one' },
    host: { ...written, default: '127.0.0.1', describe: 'Address to listen on' },
    'token-env': { ...written, describe: 'Environment variable that holds what callers show' },
    type: {
      choices: localSandboxTypes,
      default: 'auto',
      requiresArg: true,
      describe: 'Sandbox that runs the programs',
    },
    python,
    preload,
    workers: {
      ...written,
      default: String(availableParallelism()),
      defaultDescription: 'processors',
      describe: 'Programs run at once',
    },
    json,
  },
  run: async (parsed, { io, jobs }) => {
    const asJson = parsed['json'] === true;
    const [named, tokenEnv] = [textOf(parsed, 'python'), textOf(parsed, 'token-env')];
    const result = await jobs.serveSandbox({
      type: parsed['type'] as LocalSandboxType,
      preload: parsed['preload'] as readonly string[],
      workers: numberOf(parsed, 'workers', { least: 1, most: 256, whole: true }),
      host: String(parsed['host']),
      port: numberOf(parsed, 'port', { least: 0, most: 65_535, whole: true }),
      ...(named !== undefined && { python: named }),
      ...(tokenEnv !== undefined && { tokenEnv }),
      signal: io.signal,
      print: printer(io, asJson),
      warn: printer(io, true),
    });
    if (asJson) writeJson(io, result);
    return 0;
  },
};

const doctor: Command = {
  name: 'doctor',
  describe: 'Start every sandbox this machine may have, attack it and say what it holds back',
  options: { python, preload, json },
  run: async (parsed, { io, jobs }) => {
    const asJson = parsed['json'] === true;
    const named = textOf(parsed, 'python');
    const report = await jobs.sandboxDoctor({
      print: printer(io, asJson),
      preload: parsed['preload'] as readonly string[],
      ...(named !== undefined && { python: named }),
    });
    if (asJson) writeJson(io, report);
    return report.ok ? 0 : 1;
  },
};

export const sandbox: CommandGroup = {
  name: 'sandbox',
  describe: 'Where untrusted code runs: serve it to others, see what it holds back',
  commands: [serve, doctor],
};
