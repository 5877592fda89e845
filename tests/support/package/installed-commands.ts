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
  '--config configs/code_exec_smoke.yaml --set rollout.tasksPerStep=1 --set eval.before=false --set eval.after=false --set algorithm.microBatchTokens=512';

/** The folder of the project that `agent-rl new` writes. */
export const own = 'my-agent';

/**
 * What tests/e2e/package.slow.test.ts runs, one after the other. Blocks of the documents that need no network belong here.
 */
export const installedCommands: InstalledCommand[] = [
  {
    title: 'a program imports the package by its name',
    command: `node --input-type=module -e "import('agent_rl/plugin').then(({ Type }) => console.log(typeof Type.Object))"`,
    writes: /^function$/m,
  },
  {
    title: 'doctor finds that the default job can run',
    command: 'npx agent-rl doctor --json > doctor.json',
    writes: /The default job can run here/,
  },
  {
    title: 'the command is found from a folder below',
    command: 'npx agent-rl --version',
    folder: 'below/it',
    writes: /^\d+\.\d+\.\d+/m,
  },
  {
    title: 'a run file of the package is found from a folder below, and trains',
    command: `npx agent-rl train ${smoke} --set run.name=smoke`,
    folder: 'below/it',
    writes: /Settings from .*code_exec_smoke\.yaml of the package/,
  },
  {
    title: 'a preset does without a run file',
    command: 'npx train-search-agent --dry-run',
    writes: /rollouts +\d+ tasks x/,
  },
  {
    title: 'a new project is written',
    command: `npx agent-rl new ${own}`,
    writes: /npm install/,
  },
  {
    // Instead of npm install, which would do the same again.
    title: 'it has what this one has installed',
    command: `node -e "require('node:fs').symlinkSync(require('node:path').resolve('../node_modules'), 'node_modules', 'junction'); console.log('linked')"`,
    folder: own,
    writes: /linked/,
  },
  {
    title: 'its plugins pass the type check with the types of browsers too',
    command: 'npx tsc --noEmit --skipLibCheck false --lib es2023,dom && echo no errors',
    folder: own,
    writes: /^no errors/m,
  },
  {
    title: 'it compiles, and its tests pass, with jest and nothing else',
    command: 'npm test -- --verbose',
    folder: own,
    writes:
      /keeps the Tool contract[^]*Test Suites: 4 passed, 4 total\nTests: +\d+ passed, \d+ total/,
  },
  {
    title: 'its plugins are loaded, in TypeScript',
    command: 'npx agent-rl plugins --config run.yaml',
    folder: own,
    writes: /conversions/,
  },
  {
    // As npm run tasks and npm run demonstrations do after another build.
    title: 'its tasks and demonstrations are made',
    command: 'node build/data/make-tasks.js && node build/data/make-demonstrations.js',
    folder: own,
    writes: /^right: /m,
  },
  {
    title: 'its supervised training begins',
    command: 'npm run sft -- --max-iterations 1 --set train.batchSize=4',
    folder: own,
    writes: /Loss of the last step/,
  },
  {
    title: 'its reinforcement learning begins from there',
    command:
      'npx agent-rl train --config grpo.yaml --model runs/sft-seed1/checkpoints/step-1 --set train.iterations=1 --set train.warmupSteps=0 --set rollout.tasksPerStep=2 --set rollout.groupSize=2 --set eval.before=false --set eval.maxTasks=4',
    folder: own,
    writes: /Outputs: /,
  },
];
