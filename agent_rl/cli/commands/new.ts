import type { Command } from '../command.ts';
import { jsonFlag, textFlag, textOf } from '../flags/flag.ts';
import { printer, writeJson } from '../io.ts';

export const newProject: Command = {
  name: 'new <folder>',
  describe:
    'Create a project with a tool, an environment, a reward, data, run files and their tests',
  examples: [
    ['my-agent', 'A project in the new folder my-agent, with this copy of agent_rl'],
    ['my-agent --agent-rl ./agent_rl-0.1.0.tgz', 'The same, with agent_rl from a tarball'],
  ],
  positionals: {
    folder: { type: 'string', describe: 'Folder to create, or an empty one' },
  },
  options: {
    'agent-rl': textFlag(
      'Version, tarball or folder of agent_rl that the project depends on; by default the copy that runs',
    ),
    json: jsonFlag,
  },
  run: async (parsed, { io, jobs }) => {
    const json = parsed['json'] === true;
    const agentRl = textOf(parsed, 'agent-rl');
    const result = await jobs.newProject({
      folder: String(parsed['folder']),
      ...(agentRl !== undefined && { agentRl }),
      print: printer(io, json),
    });
    if (json) writeJson(io, result);
    return 0;
  },
};
