import { availableParallelism } from 'node:os';

import type { SandboxType } from '../../sandbox/choose-backend.ts';
import type { Command, CommandGroup } from '../command.ts';
import { printer, writeJson } from '../io.ts';
import { numberOf, textOf } from './prepare-data-settings.ts';

const json = {
  type: 'boolean',
  default: false,
  describe: 'Print the result as JSON on stdout',
} as const;
const python = { type: 'string', describe: 'Python of the native sandbox' } as const;

const serve: Command = {
  name: 'serve',
  describe: 'Let others run programs here: remote sandboxes, and callers of POST /run_code',
  options: {
    port: { type: 'number', default: 8080, describe: 'Port; 0 takes a free one' },
    host: { type: 'string', default: '127.0.0.1', describe: 'Address to listen on' },
    'token-env': { type: 'string', describe: 'Environment variable that holds what callers show' },
    type: {
      choices: ['auto', 'native', 'native:ns', 'native:lite', 'pyodide'] as const,
      default: 'auto',
      describe: 'Sandbox that runs the programs',
    },
    python,
    preload: { type: 'string', array: true, default: [], describe: 'Modules programs may import' },
    workers: {
      type: 'number',
      default: availableParallelism(),
      defaultDescription: 'processors',
      describe: 'Programs run at once',
    },
    json,
  },
  run: async (parsed, { io, jobs }) => {
    const asJson = parsed['json'] === true;
    const [named, tokenEnv] = [textOf(parsed, 'python'), textOf(parsed, 'token-env')];
    const result = await jobs.serveSandbox({
      type: parsed['type'] as Exclude<SandboxType, 'remote'>,
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
  options: { python, json },
  run: async (parsed, { io, jobs }) => {
    const asJson = parsed['json'] === true;
    const named = textOf(parsed, 'python');
    const report = await jobs.sandboxDoctor({
      print: printer(io, asJson),
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
