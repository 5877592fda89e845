import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';
import { transformSync } from 'esbuild';

import { agentExample, linkPackages, shortTraining } from '../support/agent-example.ts';
import { nodeProgram, startProgram, succeeded } from '../support/built-program.ts';
import { codeBlocks, fileNameOf, readDocument } from '../support/markdown.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

/* The examples of agents that are trained as they are; examples of other frameworks than the AI SDK are in tests/real. */

const folder = temporaryFolder();
const packages = ['ai', 'zod', '@ai-sdk/openai-compatible'];

describe('The example examples/ai-sdk', () => {
  const example = agentExample(folder, 'ai-sdk');
  linkPackages(example, packages);
  example.change('train.js', shortTraining);
  const trained = (dir = example.dir) => succeeded(nodeProgram(['train.js'], dir));

  test('trains its agent, which a server then serves', async () => {
    expect(trained()).toMatch(/held-out success +before +after/);
    expect(example.metrics()).toMatchObject({
      'gateway/deliveredShare': 1,
      'gateway/sequences': 1,
      'gateway/drift/thoughts': 0,
    });
    const args = ['serve', 'runs/ai-sdk', '--name', 'policy', '--port', '0'];
    const server = startProgram('agent-rl', args, example.dir);
    try {
      const said = await server.wrote(/http:\S+\/v1/);
      const env = { ...process.env, OPENAI_BASE_URL: said };
      expect(succeeded(nodeProgram(['ask.js'], example.dir, env))).toMatch(/\S/);
    } finally {
      server.interrupt();
      await server.ended;
    }
  });

  test('gives the same weights when the AI SDK asks over rolloutFetch as an OpenAI-compatible model', () => {
    const over = agentExample(join(folder, 'over-fetch'), 'ai-sdk');
    linkPackages(over, packages);
    over.change('train.js', shortTraining);
    over.change('agent.js', {
      "import { rolloutModel } from 'agent_rl/ai-sdk';":
        "import { createOpenAICompatible } from '@ai-sdk/openai-compatible';\nimport { rolloutFetch } from 'agent_rl/gateway';",
      'rolloutModel(production)':
        "createOpenAICompatible({ name: 'any', baseURL: 'http://anywhere/v1', fetch: rolloutFetch })('gpt')",
    });
    trained(over.dir);
    expect(over.metrics()).toMatchObject({ 'gateway/deliveredShare': 1, 'gateway/sequences': 1 });
    const { weightsSha256 } = example.summary();
    expect(weightsSha256).toMatch(/^[0-9a-f]{64}$/);
    expect(over.summary()).toMatchObject({ weightsSha256 });
  });
});

test('the program of the tutorial trains unchanged, here for two iterations', () => {
  const tutorial = agentExample(join(folder, 'tutorial'), 'ai-sdk');
  linkPackages(tutorial, packages);
  const blocks = codeBlocks(readDocument('docs/tutorials/your-agent.md'));
  for (const block of blocks.filter(({ language }) => language === 'ts')) {
    const { code } = transformSync(block.text, { loader: 'ts', format: 'esm' });
    const name = fileNameOf(block)?.replace(/\.ts$/, '.mjs') ?? 'part.mjs';
    writeBelow(tutorial.dir, name, code.replace('./agent.ts', './agent.mjs'));
  }
  tutorial.change('train.mjs', { 'iterations: 12': 'iterations: 2' });
  const trained = succeeded(nodeProgram(['train.mjs'], tutorial.dir));
  expect(trained).toMatch(/total \(without slices\) +0 of 10/);
  const evaluated = succeeded(nodeProgram(['evaluate.mjs'], tutorial.dir));
  expect(evaluated).toMatch(/^[01](?:\.\d+)?\n$/);
});

test('the program of the guide for code trains unchanged, here for two iterations', () => {
  const guide = agentExample(join(folder, 'guide'), 'ai-sdk');
  linkPackages(guide, ['zod']);
  const [block] = codeBlocks(readDocument('docs/guides/from-code.md'));
  const program = block?.text ?? '';
  expect(program.split('\n').filter((line) => line !== '').length).toBeLessThanOrEqual(30);
  const { code } = transformSync(program, { loader: 'ts', format: 'esm' });
  writeBelow(guide.dir, 'guide.mjs', code.replace('iterations: 12', 'iterations: 2'));
  const ended = nodeProgram(['guide.mjs'], guide.dir);
  expect(ended.stderr).not.toMatch(/Warning/);
  const stdout = succeeded(ended);
  expect(stdout).toMatch(/Note: The tool "search" comes from this program /);
  expect(stdout).toMatch(/total \(without slices\) +0 of 10/);
});
