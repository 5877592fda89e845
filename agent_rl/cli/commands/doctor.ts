import type { Command } from '../command.ts';
import { jsonFlag } from '../flags/flag.ts';
import { printer, writeJson } from '../io.ts';

export const doctor: Command = {
  name: 'doctor',
  describe: 'Say what this machine and this installation can do',
  examples: [
    ['', 'Devices, memory, sandboxes and optional packages'],
    ['--json', 'The same for a program; the exit code is 1 if something is broken'],
  ],
  options: { json: jsonFlag },
  run: async (parsed, { io, jobs }) => {
    const json = parsed['json'] === true;
    const report = await jobs.doctor({ print: printer(io, json) });
    if (json) writeJson(io, report);
    return report.ok ? 0 : 1;
  },
};
