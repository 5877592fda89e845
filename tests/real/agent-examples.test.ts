import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { type AgentExample, agentExample, shortTraining } from '../support/agent-example.ts';
import { nodeProgram, startProgram } from '../support/built-program.ts';
import { shell } from '../support/package/installed-project.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

// The examples of agents that are trained as they are, with their packages from npm and PyPI: `npm run test:real -- agent-examples`.
// Node 20 runs packages that ask for a newer one, and npm says so.

const folder = temporaryFolder();

const install = (dir: string) => shell('npm install --ignore-scripts --no-audit --no-fund', dir);

/** Trains a little, and every turn is delivered in one sequence. */
function trained(example: AgentExample): void {
  example.change('train.js', shortTraining);
  const { code, stdout, stderr } = nodeProgram(['train.js'], example.dir);
  if (code !== 0) throw new Error(`${stdout}${stderr}`);
  expectDelivered(example);
}

const expectDelivered = (example: AgentExample) =>
  expect(example.metrics()).toMatchObject({ 'gateway/deliveredShare': 1, 'gateway/sequences': 1 });

test('agents of three frameworks with the same tools end with the same weights, each in one sequence', () => {
  const hashes = ['ai-sdk', 'langgraph', 'openai-agents'].map((name) => {
    const example = agentExample(folder, name);
    install(example.dir);
    trained(example);
    return example.summary()['weightsSha256'];
  });
  expect(hashes[0]).toMatch(/^[0-9a-f]{64}$/);
  expect(new Set(hashes).size).toBe(1);
});

test('examples/python-openai trains a program of the openai package', () => {
  const example = agentExample(folder, 'python-openai');
  shell('python3 -m venv .venv && .venv/bin/pip install -q -r requirements.txt', example.dir);
  install(example.dir);
  example.change('run.yaml', {
    'iterations: 12': 'iterations: 2',
    'groupSize: 8': 'groupSize: 4',
    'tasksPerStep: 8': 'tasksPerStep: 2',
    'maxTasks: 60': 'maxTasks: 4',
  });
  shell('npm run train', example.dir);
  expectDelivered(example);
});

test('version 7 of the AI SDK takes rolloutModel() by its types, and runs its loop with it', () => {
  const example = agentExample(join(folder, 'ai-7'), 'ai-sdk');
  example.change('package.json', {
    '"ai": "6.0.326"': '"ai": "7.0.173"',
    '"@ai-sdk/openai-compatible": "2.0.92"': '"@ai-sdk/openai-compatible": "3.0.92"',
  });
  install(example.dir);
  writeBelow(
    example.dir,
    'model.ts',
    "import { rolloutModel } from 'agent_rl/ai-sdk';\nimport { generateText } from 'ai';\n\nvoid generateText({ model: rolloutModel(), prompt: 'x' });\n",
  );
  const tsc = join(example.dir, '..', '..', 'node_modules', 'typescript', 'bin', 'tsc');
  const options = '--noEmit --strict --module nodenext --target es2023 --skipLibCheck';
  shell(`node ${tsc} ${options} model.ts`, example.dir);
  trained(example);
});

const shortRun = {
  'iterations: 24': 'iterations: 2',
  'tasksPerStep: 24': 'tasksPerStep: 4',
  'learningRate: 3e-4': 'learningRate: 3e-4\n\neval:\n  maxTasks: 8',
};

test('examples/mcp trains an agent whose only tool is an MCP server', () => {
  const example = agentExample(folder, 'mcp');
  install(example.dir);
  example.change('run.yaml', shortRun);
  shell('npm run train', example.dir);
  const { tools } = example.summary() as { tools: { mcp: { calls: number; errors: number } } };
  expect(tools.mcp.calls).toBeGreaterThan(10);
  expect(tools.mcp.errors).toBe(0);
});

test('examples/openenv trains on an environment that another process serves', async () => {
  const example = agentExample(folder, 'openenv');
  install(example.dir);
  shell('npm run tasks', example.dir);
  const args = ['serve', '--env', '--config', 'environment.yaml', '--port', '0'];
  const server = startProgram('agent-rl', args, example.dir, { timeoutMs: 600_000 });
  try {
    const url = await server.wrote(/http:\S+/);
    example.change('run.yaml', { ...shortRun, 'http://127.0.0.1:8000': url });
    shell('npm run train', example.dir);
  } finally {
    server.interrupt();
    await server.ended;
  }
  expect(example.summary()).toMatchObject({
    iterations: 2,
    outcomes: { completed: expect.anything() },
  });
});
