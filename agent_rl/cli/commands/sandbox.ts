import { availableParallelism } from 'node:os';

import { localSandboxTypes } from '../../jobs/machine/local-sandbox-type.ts';
import { command, type CommandGroup } from '../command.ts';
import { choiceFlag, type Flag, numberFlag, textFlag, textsOf } from '../flags/flag.ts';
import { printer } from '../io.ts';

const python = textFlag('Python for the native sandbox: a path, or a name on PATH');
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
  'Programs to run in parallel',
  { from: 1, to: 256, whole: true },
  availableParallelism(),
);

const serve = command({
  name: 'serve',
  describe: 'Serve a sandbox over HTTP, for sandbox.type remote and callers of POST /run_code',
  examples: [
    [
      '--port 8080 --token-env SANDBOX_TOKEN',
      'Listen on this machine only; callers need the token',
    ],
    [
      '--host 0.0.0.0 --type native --workers 8',
      'Listen on all addresses, and run programs in the native sandbox',
    ],
  ],
  flags: {
    port: numberFlag('Port; 0 takes a free one', { from: 0, to: 65_535, whole: true }, 8080),
    host: textFlag('Address to listen on', '127.0.0.1'),
    'token-env': textFlag('Environment variable with the token that callers must send'),
    'tls-cert': textFlag('PEM file of a certificate, to serve HTTPS; needs --tls-key'),
    'tls-key': textFlag("PEM file of the certificate's private key"),
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
  describe: 'Start and attack each sandbox of this machine, and report which attacks it stops',
  examples: [
    ['', 'Test every sandbox, and explain why a stronger one is unavailable'],
    ['--python /usr/bin/python3.12 --preload numpy', 'Test with your own Python and modules'],
  ],
  flags: { python, preload },
  run: (flags, { jobs, job }) => jobs.sandboxDoctor({ ...flags, ...job }),
});

export const sandbox: CommandGroup = {
  name: 'sandbox',
  describe: 'The sandbox for untrusted code: serve it over HTTP, or test which attacks it stops',
  commands: [serve, doctor],
};
