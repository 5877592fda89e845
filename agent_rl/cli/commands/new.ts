import { command } from '../command.ts';
import { requiredFlag, textFlag } from '../flags/flag.ts';

export const newProject = command({
  name: 'new <folder>',
  describe:
    'Create a project with a tool, an environment, a reward, data, run files and their tests',
  examples: [
    ['my-agent', 'Create the project in the new folder my-agent'],
    [
      'my-agent --agent-rl ./agent_rl-0.1.0.tgz',
      'Create a project that installs agent_rl from a tarball',
    ],
  ],
  positionals: { folder: requiredFlag('Folder to create; an existing folder must be empty') },
  flags: {
    'agent-rl': textFlag(
      'Version, tarball or folder of agent_rl for the project (default: this copy)',
    ),
  },
  run: (flags, { jobs, job }) => jobs.newProject({ ...flags, ...job }),
});
