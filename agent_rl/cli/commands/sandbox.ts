import { availableParallelism } from 'node:os';

import type { LocalSandboxType } from '../../jobs/machine/local-sandbox-type.ts';
import type { Command, CommandGroup } from '../command.ts';
import { jsonFlag, numberFlag, numberGiven, textFlag, textOf, textsOf } from '../flags/flag.ts';
import { localSandboxTypes } from '../flags/sandbox-flags.ts';
import { printer, writeJson } from '../io.ts';

const python = textFlag('Python of the native sandbox: its path, or its name on PATH');
const preload = {
  type: 'string',
  array: true,
  requiresArg: true,
  default: [],
  describe: 'Modules that programs may import',
} as const;

const serve: Command = {
  name: 'serve',
  describe: 'Run programs for other machines: for remote sandboxes, and callers of POST /run_code',
  examples: [
    ['--port 8080 --token-env SANDBOX_TOKEN', 'On this machine alone, to callers with the token'],
    ['--host 0.0.0.0 --type native --workers 8', 'To any machine, in the native sandbox'],
  ],
  options: {
    port: numberFlag('Port; 0 takes a free one', 8080),
    host: textFlag('Address to listen on', { default: '127.0.0.1' }),
    'token-env': textFlag('Environment variable that holds the token callers must send'),
    type: {
      choices: localSandboxTypes,
      default: 'auto',
      requiresArg: true,
      describe: 'Sandbox that runs the programs',
    },
    python,
    preload,
    workers: {
      ...numberFlag('Programs run at once', availableParallelism()),
      defaultDescription: 'processors',
    },
    json: jsonFlag,
  },
  run: async (parsed, { io, jobs }) => {
    const asJson = parsed['json'] === true;
    const [named, tokenEnv] = [textOf(parsed, 'python'), textOf(parsed, 'token-env')];
    const result = await jobs.serveSandbox({
      type: parsed['type'] as LocalSandboxType,
      preload: textsOf(parsed['preload']),
      workers: numberGiven(parsed, 'workers', { from: 1, to: 256, whole: true }),
      host: String(parsed['host']),
      port: numberGiven(parsed, 'port', { from: 0, to: 65_535, whole: true }),
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
  examples: [
    ['', 'Every sandbox, and why a stronger one is not available'],
    ['--python /usr/bin/python3.12 --preload numpy', 'With a Python and modules of your own'],
  ],
  options: { python, preload, json: jsonFlag },
  run: async (parsed, { io, jobs }) => {
    const asJson = parsed['json'] === true;
    const named = textOf(parsed, 'python');
    const report = await jobs.sandboxDoctor({
      print: printer(io, asJson),
      preload: textsOf(parsed['preload']),
      ...(named !== undefined && { python: named }),
    });
    if (asJson) writeJson(io, report);
    return report.ok ? 0 : 1;
  },
};

export const sandbox: CommandGroup = {
  name: 'sandbox',
  describe: 'Where untrusted code runs: serve it to others, or see what it holds back',
  commands: [serve, doctor],
};
