import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { trainAgent } from '#agent_rl/jobs/train-agent.ts';
import { corruption } from '#agent_rl/runs/checkpoints.ts';
import type { EpisodeFile } from '#agent_rl/runs/episodes/read-episodes.ts';
import { StallWatch } from '#agent_rl/threads/stall-watch.ts';
import { makeAcmeProject, readJson, readLines, withoutTimes } from '../support/acme-project.ts';
import {
  builtProgram,
  endedWith,
  sets,
  startProgram,
  succeeded,
} from '../support/built-program.ts';
import { episodesIn } from '../support/journal.ts';
import { conversation } from '../support/question-run.ts';
import { residentProgram } from '../support/resident-program.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';
import { rejectionOf } from '../support/thrown.ts';

/*
 * Runs that end early, and what they leave: where the last whole iteration is, and how to continue from it.
 */

const project = temporaryFolder();
const agentRl = residentProgram('agent-rl');
const run = (name: string): string => join(project, 'runs', name);
const settings = (name: string): string[] => [
  ...'train --config train.yaml --plugin ./spoilt.ts --max-iterations 6'.split(' '),
  ...sets('rewards.1.type=spoilt', 'rewards.1.weight=1', `run.name=${name}`),
  ...sets('eval.after=false', 'checkpoint.every=50'),
];
const resume = (name: string, ...more: string[]) =>
  agentRl(['train', '--resume', run(name), ...more], project);
const weights = (name: string): unknown => readJson(run(name), 'summary.json')['weightsSha256'];
const episodes = async (name: string, file: EpisodeFile): Promise<string> =>
  JSON.stringify(withoutTimes(await episodesIn(run(name), file)));
const ofWhole = async (name: string) => {
  expect(weights(name)).toBe(weights('whole'));
  for (const file of ['train', 'eval'] as const)
    expect(await episodes(name, file)).toBe(await episodes('whole', file));
};

beforeAll(async () => {
  await makeAcmeProject(project);
  // The first calls judge the 4 held-out tasks, and then the 8 episodes of each iteration: three are whole.
  writeBelow(
    project,
    'spoilt.ts',
    `
import { reward } from 'agent_rl/plugin';
let calls = 0;
export const spoilt = reward({ name: 'spoilt', description: 'Breaks after a while.' })(() => {
  calls += 1;
  if (process.env.FAILS === 'true' && calls > 4 + 3 * 8) throw new Error('The judge is gone.');
  return 0;
});
`,
  );
  succeeded(await agentRl(settings('whole'), project));
});

test('a run whose episodes all fail keeps a checkpoint of its last complete iteration and prints how to continue', async () => {
  const { code, stderr } = builtProgram('agent-rl', settings('failed'), project, {
    ...process.env,
    FAILS: 'true',
  });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /ROLLOUTS_FAILED: All 8 episodes ended without a reward.*The judge is gone/,
  );
  expect(readLines(run('failed'), 'metrics.jsonl')).toHaveLength(3);
  const checkpoint = join(run('failed'), 'checkpoints', 'step-3');
  expect(await corruption(checkpoint)).toBeUndefined();
  const next = `Newest checkpoint: ${checkpoint}\nContinue: npx agent-rl train --resume ${run('failed')}\n`;
  expect(stderr.endsWith(next)).toBe(true);
  // As the episode fails and as what ended the run.
  expect(stderr.split('The judge is gone')).toHaveLength(3);
  expect(readFileSync(join(run('failed'), 'run.log'), 'utf8')).toContain(next.trimEnd());
  const report = readFileSync(join(run('failed'), 'report.html'), 'utf8');
  expect(report).toContain('It has 3 iterations so far.');
  expect(report).toContain('error: The run ended: ');
  succeeded(await resume('failed'));
  await ofWhole('failed');
});

test('a run killed before its first checkpoint starts over with --resume and ends with the same weights', async () => {
  const killed = startProgram('agent-rl', [...settings('killed'), '--log-rollouts'], project);
  await killed.wrote(/Evaluation before/);
  await killed.wrote(/rollout .*reward/);
  killed.kill();
  await killed.ended;
  succeeded(await resume('killed'));
  const log = readFileSync(join(run('killed'), 'run.log'), 'utf8');
  expect(log).toContain('from its start');
  expect(log).toContain('has no checkpoint yet: the run starts again from its start model');
  await ofWhole('killed');
});

test('a resume with another number of engine threads is refused unless a flag allows it, and is recorded', async () => {
  const { engineThreads } = (
    readJson(run('whole'), 'summary.json')['machines'] as [{ engineThreads: number }]
  )[0];
  const other = ['--engine-threads', String(engineThreads + 1), '--max-iterations', '7'];
  const refused = await resume('whole', ...other);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(
    /^CHECKPOINT_INVALID: .*engine threads: (\d) -> \d\).* Give --engine-threads \1, or --allow-other-machine/m,
  );
  succeeded(await resume('whole', ...other, '--allow-other-machine'));
  expect(readJson(run('whole'), 'summary.json')['machines']).toMatchObject([
    { engineThreads },
    { engineThreads: engineThreads + 1 },
  ]);
  const log = readFileSync(join(run('whole'), 'run.log'), 'utf8');
  expect(log).toContain('Allowed by --allow-other-machine: engine threads:');
  expect(log).toContain(`Computes on: cpu, engine threads: ${engineThreads + 1}, `);
});

test('the flag that allows other engine threads is refused without a difference to allow', async () => {
  const { code, stderr } = await agentRl([...settings('flag'), '--allow-other-machine'], project);
  expect([code, stderr]).toEqual([2, expect.stringContaining('has no effect without --resume')]);
});

test('supervised training that fails midway keeps its records and last complete step, and leaves no lock and no process', async () => {
  writeBelow(project, 'talk/train.jsonl', conversation('Something.'));
  writeBelow(
    project,
    'diverging.yaml',
    `datasets: [{ dir: talk }]
environment: { type: code_exec }
tools: [{ type: code_exec }]
model: { path: model }
run: { outputDir: runs, name: diverges, engineThreads: 1 }
# Each step takes ten times the weights off them: soon they are out of what a float can hold.
train: { iterations: 200, batchSize: 1, learningRate: 1, weightDecay: 10, warmupSteps: 0 }
`,
  );
  const ended = builtProgram('agent-rl', ['sft', '--config', 'diverging.yaml'], project);
  endedWith(1, ended);
  const { stderr } = ended;
  expect(stderr).toMatch(/ENGINE_FAILED: The gradient's global norm is/);
  expect(stderr).not.toContain('still runs');
  // How many steps it takes to diverge depends on the machine's arithmetic.
  const checkpoint = /checkpoint: (\S+step-\d+)$/m.exec(stderr)?.[1] ?? '';
  const left = run('diverges');
  expect(checkpoint).toContain(join(left, 'checkpoints', 'step-'));
  expect(stderr).toContain(`Continue: npx agent-rl train --resume ${left}\n`);
  expect(await corruption(checkpoint)).toBeUndefined();
  const files = readdirSync(left);
  expect(files).toEqual(expect.arrayContaining(['config.yaml', 'metrics.jsonl', 'run.log']));
  expect(files.filter((name) => /run\.lock|summary\.json|partial/.test(name))).toEqual([]);
  const written = readLines(left, 'metrics.jsonl').map(({ iteration }) => iteration);
  expect(written).toEqual(Array.from({ length: written.length }, (_, i) => i + 1));
  expect(written.length).toBeGreaterThan(0);
  expect(written.length).toBeLessThan(200);
  expect(readFileSync(join(left, 'run.log'), 'utf8')).toContain('The run ended: AgentRlError');
});

/*
 * Plugins that fail where nothing of ours can catch it. The program ends with 1 and one line that hides secrets.
 */

const canary = 'canary-5b1c9e77';
const environment = { ...process.env, MY_API_TOKEN: canary };
const ran = (...args: string[]) => builtProgram('agent-rl', args, project, environment);

/** A reward that does something at its n-th call. */
const reward = (name: string, at: number, what: string): string => `
import { reward } from 'agent_rl/plugin';
let calls = 0;
export const ${name} = reward({ name: '${name}', description: 'Fails beside the point.' })(() => {
  calls += 1;
  if (calls === ${at}) ${what};
  return calls % 2;
});
`;
const boom = `new Error('refused\\n  for ' + process.env.MY_API_TOKEN)`;

beforeAll(() => {
  writeBelow(project, 'rejects.ts', reward('rejects', 20, `void Promise.reject(${boom})`));
  writeBelow(project, 'throws.ts', reward('throws', 20, `setTimeout(() => { throw ${boom}; })`));
});

const withReward = (name: string): string[] => [
  ...`train --config train.yaml --plugin ./${name}.ts --max-iterations 20`.split(' '),
  ...sets(`rewards.1.type=${name}`, 'rewards.1.weight=1', `run.name=${name}`),
  ...sets('eval.before=false', 'eval.after=false'),
];

test.each([
  ['rejects', 'A promise was rejected and nothing awaited it'],
  ['throws', 'An error was thrown where nothing could catch it'],
])(
  'a stray failure ends a run at the next safe point with a log and a checkpoint: a reward that %s',
  async (name, what) => {
    const ended = ran(...withReward(name));
    const stdout = endedWith(1, ended);
    const { stderr } = ended;
    expect(stderr).toMatch(
      new RegExp(`^UNEXPECTED: ${what}: refused for \\[redacted\\] \\(at .*${name}\\.ts`, 'm'),
    );
    expect(stderr).not.toMatch(/\n\s+at /);
    const log = readFileSync(join(run(name), 'run.log'), 'utf8');
    expect(log).toMatch(/error The run ended: StrayFailure: .*refused for \[redacted\]/);
    expect(stdout + stderr + log).not.toContain(canary);
    // The 20th of 8 episodes an iteration is in the third: the first two are kept.
    expect(readLines(run(name), 'metrics.jsonl').length).toBeGreaterThanOrEqual(2);
    expect(await corruption(join(run(name), 'checkpoints', 'step-2'))).toBeUndefined();
    expect(existsSync(join(run(name), 'summary.json'))).toBe(false);
    expect(existsSync(join(run(name), 'run.lock'))).toBe(false);
  },
);

test('stray failures of a tracker do not fail the run, which reports what was not recorded', () => {
  writeBelow(
    project,
    'careless.ts',
    `
import { type TrackedEvent, tracker } from 'agent_rl/plugin';
export const careless = tracker({ name: 'careless', description: 'Fails in every way.' })(
  async ({ type }: TrackedEvent) => {
    if (type === 'start') void Promise.reject(${boom});
    if (type === 'iteration') setTimeout(() => { throw ${boom}; });
    if (type === 'checkpoint') throw ${boom};
  },
);
`,
  );
  const ended = ran(
    ...'train --config train.yaml --plugin ./careless.ts --max-iterations 2'.split(' '),
    ...sets('trackers.0.type=careless', 'run.name=careless', 'eval.before=false'),
    ...sets('eval.after=false'),
  );
  const stdout = succeeded(ended);
  const { stderr } = ended;
  const { trackers } = readJson(run('careless'), 'summary.json');
  // Told of: start, two iterations with a checkpoint each, summary, end.
  expect(trackers).toEqual({ careless: { recorded: 5, failed: 2, lost: 0, escaped: 3 } });
  expect(stderr).toMatch(/^Tracker "careless": .*refused for \[redacted\].* Training continues/m);
  expect(stdout + stderr).not.toContain(canary);
});

test('Ctrl-C during start-up ends the command and leaves no run', async () => {
  writeBelow(
    project,
    'waits.ts',
    "console.log('Opening.');\nawait new Promise((resolve) => setTimeout(resolve, 20_000));\n",
  );
  const args = 'train --config train.yaml --plugin ./waits.ts --set run.name=early'.split(' ');
  const program = startProgram('agent-rl', args, project);
  await program.wrote(/Opening\./);
  program.interrupt();
  const { code, stderr } = await program.ended;
  expect({ code, stderr }).toEqual({ code: 130, stderr: expect.stringContaining('INTERRUPTED') });
  expect(existsSync(run('early'))).toBe(false);
});

test('a tool that loops forever ends the run with a reason', () => {
  // It blocks the main thread forever: from another thread the process can still be ended.
  const log = join(project, 'run.log');
  const watch = join(packageRoot(), 'dist/agent_rl/threads/stall-watch.js');
  const entered = join(packageRoot(), 'dist/agent_rl/core/plugins/entered-plugin.js');
  const script = writeBelow(
    project,
    'stall.mjs',
    `import { StallWatch } from ${JSON.stringify(watch)};
import { enterPlugin } from ${JSON.stringify(entered)};
StallWatch.start({ limitS: 1, log: ${JSON.stringify(log)} });
await new Promise((resolve) => setTimeout(resolve, 2500));
console.log('alive after 2.5 s');
enterPlugin('tool "endless"');
for (;;);`,
  );
  const { signal, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  expect(stdout).toContain('alive after 2.5 s');
  expect(signal).toBe('SIGKILL');
  const reason =
    'The main thread has been blocked for 1 s (rollout.deadlines.stallS), so the run stops. The last plugin called was tool "endless".';
  expect(stderr).toContain(reason);
  expect(readFileSync(log, 'utf8')).toContain(`error ${reason}`);
});

test('a training in code fails with a reason when its program blocks the main thread, and the program continues', async () => {
  const training = trainAgent({
    config: join(packageRoot(), 'configs', 'code_exec_smoke.yaml'),
    overrides: {
      'run.engineThreads': 1,
      'run.outputDir': project,
      'rollout.deadlines.stallS': 1,
      'eval.before': false,
      'eval.after': false,
    },
  });
  // One that ends meanwhile does not end the watch over the other.
  await StallWatch.start({ limitS: 600 })!.close();
  const thrown = rejectionOf(training);
  await expect(
    (async () => {
      for await (const { type } of training)
        if (type === 'iteration')
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5000);
    })(),
  ).rejects.toMatchObject({ code: 'PROCESS_BLOCKED' });
  const { code, message } = await thrown;
  expect(code).toBe('PROCESS_BLOCKED');
  expect(message).toMatch(
    /blocked for 1 s \(rollout\.deadlines\.stallS\), so the run stops\. The last plugin called was /,
  );
  const left = join(project, 'code_exec_smoke-seed42');
  expect(readFileSync(join(left, 'run.log'), 'utf8')).toContain(`error ${message}`);
  expect(readdirSync(join(left, 'checkpoints'))).toContain('step-1');
});
