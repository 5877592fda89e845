import { availableParallelism } from 'node:os';

import { localSandboxTypes } from '../../jobs/machine/local-sandbox-type.ts';
import { command, type CommandGroup } from '../command.ts';
import { choiceFlag, type Flag, numberFlag, textFlag, textsOf } from '../flags/flag.ts';
import { printer } from '../io.ts';

const python = textFlag('Python of the native sandbox: its path, or its name on PATH');
const preload: Flag<string[]> = {
  option: {
    type: 'string',
    array: true,
    requiresArg: true,
    default: [],
    describe: 'Modules that programs may import',
  },
  read: textsOf,
};
const workers = numberFlag(
  'Programs run at once',
  { from: 1, to: 256, whole: true },
  availableParallelism(),
);

const serve = command({
  name: 'serve',
  describe: 'Run programs for other machines: for remote sandboxes, and callers of POST /run_code',
  examples: [
    ['--port 8080 --token-env SANDBOX_TOKEN', 'On this machine alone, to callers with the token'],
    ['--host 0.0.0.0 --type native --workers 8', 'To any machine, in the native sandbox'],
  ],
  flags: {
    port: numberFlag('Port; 0 takes a free one', { from: 0, to: 65_535, whole: true }, 8080),
    host: textFlag('Address to listen on', '127.0.0.1'),
    'token-env': textFlag('Environment variable that holds the token callers must send'),
    'tls-cert': textFlag('PEM file of a certificate, to serve https; with --tls-key'),
    'tls-key': textFlag('PEM file of its key'),
    type: choiceFlag('Sandbox that runs the programs', localSandboxTypes, 'auto'),
    python,
    preload,
    workers: { ...workers, option: { ...workers.option, defaultDescription: 'processors' } },
  },
  run: (flags, { io, jobs, job }) =>
    jobs.serveSandbox({ ...flags, ...job, warn: printer(io, true) }),
});

const doctor = command({
  name: 'doctor',
  describe: 'Start every sandbox this machine may have, attack it and say what it holds back',
  examples: [
    ['', 'Every sandbox, and why a stronger one is not available'],
    ['--python /usr/bin/python3.12 --preload numpy', 'With a Python and modules of your own'],
  ],
  flags: { python, preload },
  run: (flags, { jobs, job }) => jobs.sandboxDoctor({ ...flags, ...job }),
});

export const sandbox: CommandGroup = {
  name: 'sandbox',
  describe: 'Where untrusted code runs: serve it to others, or see what it holds back',
  commands: [serve, doctor],
};
