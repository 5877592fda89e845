import { command } from '../command.ts';

export const doctor = command({
  name: 'doctor',
  describe: 'Say what this machine and this installation can do',
  examples: [
    ['', 'Devices, memory, sandboxes and optional packages'],
    ['--json', 'The same for a program; the exit code is 1 if something is broken'],
  ],
  run: (_, { jobs, job }) => jobs.doctor(job),
});
