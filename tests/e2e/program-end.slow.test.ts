import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { corruption } from '#agent_rl/runs/checkpoints.ts';
import { readLines } from '../support/acme-project.ts';
import { builtProgram, type Ended, nodeProgram } from '../support/built-program.ts';
import { writeSmallModel } from '../support/small-model.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

/*
 * How a program leaves: its command never ends, leaves something running, or fails midway.
 */

const folder = temporaryFolder();
const built = join(packageRoot(), 'dist', 'agent_rl', 'cli', 'run-program.js');

/** Runs a program whose one command does what is given. */
function programThat(does: string): Ended {
  const text = `
import { runProgram } from '${pathToFileURL(built).href}';
await runProgram('probe', { name: 'probe', describe: 'A command.', examples: [], options: {}, positionals: {}, async run() { ${does} } });
`;
  return nodeProgram([writeBelow(folder, 'probe.mjs', text)], folder);
}

test('a command that waits for something that never happens fails and says what to do', () => {
  const { code, stdout, stderr } = programThat('await new Promise(() => {});');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^UNEXPECTED: The job waits for .*a plugin.* a timeout .*\n$/);
});

test('work that a command leaves running has time to end', () => {
  expect(programThat("setTimeout(() => console.log('Ended.'), 100); return 0;")).toEqual({
    code: 0,
    stdout: 'Ended.\n',
    stderr: '',
  });
});

test('work that a command leaves running for longer neither blocks the program nor changes its exit code', () => {
  const { code, stdout, stderr } = programThat(
    "setTimeout(() => console.log('Ended.'), 20_000); return 2;",
  );
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^A timer, socket or process, .* is still active\. Exiting anyway\.\n$/);
});

test('work that a command leaves running makes it fail when it throws', () => {
  const { code, stderr } = programThat(
    "setTimeout(() => { throw new Error('too late'); }, 100); return 0;",
  );
  expect(code).toBe(1);
  expect(stderr).toMatch(/^UNEXPECTED: An error was thrown .*: too late \(.*\)\.\n$/);
});

test('supervised training that fails midway keeps its records and last complete step, and leaves no lock and no process', async () => {
  await writeSmallModel(join(folder, 'model'));
  const said = (role: string, content: string): object => ({ role, content });
  const messages = [said('user', 'Say something.'), said('assistant', 'Something.')];
  writeBelow(folder, 'talk/train.jsonl', `${JSON.stringify({ messages })}\n`);
  writeBelow(
    folder,
    'run.yaml',
    `datasets: [{ dir: talk }]
environment: { type: code_exec }
tools: [{ type: code_exec }]
model: { path: model }
run: { outputDir: runs, name: diverges, engineThreads: 1 }
# Each step takes ten times the weights off them: soon they are out of what a float can hold.
train: { iterations: 200, batchSize: 1, learningRate: 1, weightDecay: 10, warmupSteps: 0 }
`,
  );
  const { code, stderr } = builtProgram('agent-rl', ['sft', '--config', 'run.yaml'], folder);
  expect({ code, stderr: code === 1 ? '' : stderr }).toEqual({ code: 1, stderr: '' });
  expect(stderr).toMatch(/ENGINE_FAILED: The gradient's global norm is/);
  expect(stderr).not.toContain('still runs');
  // How many steps it takes to diverge depends on the machine's arithmetic.
  const checkpoint = /checkpoint: (\S+step-\d+)$/m.exec(stderr)?.[1] ?? '';
  const run = join(folder, 'runs', 'diverges');
  expect(checkpoint).toContain(join(run, 'checkpoints', 'step-'));
  expect(stderr).toContain(`Continue: npx agent-rl train --resume ${run}\n`);
  expect(await corruption(checkpoint)).toBeUndefined();
  expect(readdirSync(run).toSorted()).toEqual(
    expect.arrayContaining(['config.yaml', 'metrics.jsonl', 'run.log']),
  );
  expect(readdirSync(run)).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/run\.lock|summary\.json|partial/)]),
  );
  const written = readLines(run, 'metrics.jsonl').map(({ iteration }) => iteration);
  expect(written).toEqual(Array.from({ length: written.length }, (_, i) => i + 1));
  expect(written.length).toBeGreaterThan(0);
  expect(written.length).toBeLessThan(200);
  expect(readFileSync(join(run, 'run.log'), 'utf8')).toContain('The run ended: AgentRlError');
});
