/** Rows: a title, a command line, what it must write on stdout or stderr, and the folder of the project to run it in. */
type Row = readonly [title: string, command: string, writes: RegExp, folder?: string];

const smoke =
  '--config configs/code_exec_smoke.yaml --set rollout.tasksPerStep=1 --set eval.before=false --set eval.after=false --set algorithm.microBatchTokens=512';

/** The folder of the project that `agent-rl new` writes. */
export const own = 'my-agent';

const rows: readonly Row[] = [
  [
    'a program imports the package by its name',
    `node --input-type=module -e "import('agent_rl/plugin').then(({ Type }) => console.log(typeof Type.Object))"`,
    /^function$/m,
  ],
  [
    'doctor finds that the default job can run',
    'npx agent-rl doctor --json > doctor.json',
    /The default job can run here/,
  ],
  ['the command is found below', 'npx agent-rl --version', /^\d+\.\d+\.\d+/m, 'below/it'],
  [
    'a run file of the package is found from a folder below, and trains',
    `npx agent-rl train ${smoke} --set run.name=smoke`,
    /Settings from .*code_exec_smoke\.yaml of the package/,
    'below/it',
  ],
  ['a preset does without a run file', 'npx train-search-agent --dry-run', /rollouts +\d+ tasks x/],
  ['a new project is written', `npx agent-rl new ${own}`, /npm install/],
  // Instead of npm install, which would do the same again.
  [
    'it has what this one has installed',
    `node -e "require('node:fs').symlinkSync(require('node:path').resolve('../node_modules'), 'node_modules', 'junction'); console.log('linked')"`,
    /linked/,
    own,
  ],
  [
    'its plugins pass the type check with the types of browsers too',
    'npx tsc --noEmit --skipLibCheck false --lib es2023,dom && echo no errors',
    /^no errors/m,
    own,
  ],
  [
    'it compiles, and its tests pass, with jest and nothing else',
    'npm test -- --verbose',
    /keeps the Tool contract[^]*Test Suites: 4 passed, 4 total\nTests: +\d+ passed, \d+ total/,
    own,
  ],
  ['its plugins are loaded', 'npx agent-rl plugins --config run.yaml', /conversions/, own],
  // As npm run tasks and npm run demonstrations do after another build.
  [
    'its tasks and demonstrations are made',
    'node build/data/make-tasks.js && node build/data/make-demonstrations.js',
    /^right: /m,
    own,
  ],
  [
    'its supervised training begins',
    'npm run sft -- --max-iterations 1 --set train.batchSize=4',
    /Loss of the last step/,
    own,
  ],
  [
    'its reinforcement learning begins from there',
    'npx agent-rl train --config grpo.yaml --model runs/sft-seed1/checkpoints/step-1 --set train.iterations=1 --set train.warmupSteps=0 --set rollout.tasksPerStep=2 --set rollout.groupSize=2 --set eval.before=false --set eval.maxTasks=4',
    /Outputs: /,
    own,
  ],
];

/**
 * What tests/e2e/package.slow.test.ts runs in a project that installed the package, one after the other. Blocks of the documents that
 * need no network belong here.
 */
export const installedCommands = rows.map(([title, command, writes, folder]) => {
  return { title, command, writes, folder };
});
