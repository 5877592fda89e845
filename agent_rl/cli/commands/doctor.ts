import type { Command } from '../command.ts';
import { printer, writeJson } from '../io.ts';

export const doctor: Command = {
  name: 'doctor',
  describe: 'Say what this machine and installation can do',
  options: {
    json: { type: 'boolean', default: false, describe: 'Print the result as JSON on stdout' },
  },
  run: async (parsed, { io, jobs }) => {
    const json = parsed['json'] === true;
    const report = await jobs.doctor({ print: printer(io, json) });
    if (json) writeJson(io, report);
    return report.ok ? 0 : 1;
  },
};
