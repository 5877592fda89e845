import { command } from '../command.ts';
import { requiredFlag, textFlag } from '../flags/flag.ts';

export const newProject = command({
  name: 'new <folder>',
  describe:
    'Create a project with a tool, an environment, a reward, data, run files and their tests',
  examples: [
    ['my-agent', 'A project in the new folder my-agent, with this copy of agent_rl'],
    ['my-agent --agent-rl ./agent_rl-0.1.0.tgz', 'The same, with agent_rl from a tarball'],
  ],
  positionals: { folder: requiredFlag('Folder to create, or an empty one') },
  flags: {
    'agent-rl': textFlag(
      'Version, tarball or folder of agent_rl that the project depends on; by default the copy that runs',
    ),
  },
  run: (flags, { jobs, job }) => jobs.newProject({ ...flags, ...job }),
});
