/** A command of a project that installed the package, run in a shell in its folder, and what it must write. */
export interface InstalledCommand {
  title: string;
  command: string;
  /** On stdout or stderr. */
  writes: RegExp;
  /** Folder of the project to run it in; its root by default. */
  folder?: string;
}

const smoke =
  '--config configs/code_exec_smoke.yaml --set rollout.tasksPerStep=1 --set eval.before=false --set eval.after=false';

/**
 * What tests/e2e/package.test.ts runs, one after the other. Blocks of the documents that need no network belong here.
 */
export const installedCommands: InstalledCommand[] = [
  {
    title: 'the type check takes every declaration of the package and of what they name',
    command: 'npx tsc -p . --listFilesOnly',
    writes: /agent_rl.dist.agent_rl.index\.d\.ts/,
  },
  {
    title: 'the type check passes with skipLibCheck: false',
    command: 'npx tsc -p . && echo no errors',
    writes: /^no errors/m,
  },
  {
    title: 'so it does with the types of browsers',
    command: 'npx tsc -p . --lib es2023,dom && echo no errors',
    writes: /^no errors/m,
  },
  {
    title: 'the contract suites run with jest and nothing else',
    command: 'node --experimental-vm-modules --no-warnings node_modules/jest/bin/jest.js',
    writes: /Tests: +28 passed, 28 total/,
  },
  {
    title: 'a program imports the package by its name',
    command: `node --input-type=module -e "import('agent_rl').then(({ Type }) => console.log(typeof Type.Object))"`,
    writes: /^function$/m,
  },
  {
    title: 'the command is found from a folder below',
    command: 'npx agent-rl --version',
    folder: 'below/it',
    writes: /^\d+\.\d+\.\d+/m,
  },
  {
    title: "the project's own plugin is loaded, in TypeScript",
    command: 'npx agent-rl plugins --config plugin/run.yaml',
    writes: /sums/,
  },
  {
    title: 'doctor finds that the default job can run',
    command: 'npx agent-rl doctor --json > doctor.json',
    writes: /The default job can run here/,
  },
  {
    title: 'a run file of the package is found from a folder below, and trains',
    command: `npx agent-rl train ${smoke} --set run.name=smoke`,
    folder: 'below/it',
    writes: /Settings from .*code_exec_smoke\.yaml, which the package ships/,
  },
  {
    title: 'a preset does without a run file',
    command: 'npx train-search-agent --dry-run',
    writes: /rollouts +\d+ tasks x/,
  },
];
