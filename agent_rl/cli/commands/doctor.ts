import { command } from '../command.ts';

export const doctor = command({
  name: 'doctor',
  describe: 'Check what this machine and this installation can do',
  examples: [
    ['', 'Check devices, memory, sandboxes and optional packages'],
    ['--json', 'Print JSON; the exit code is 1 if something is broken'],
  ],
  run: (_, { jobs, job }) => jobs.doctor(job),
});
