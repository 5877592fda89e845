import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import type { Generator } from '#agent_rl/core/services/generator.ts';
import { scorerOf } from '#agent_rl/core/services/scorer.ts';
import { importGguf } from '#model/gguf/import-gguf.ts';
import { smolLm2File } from '#scripts/recipes/smollm2/smollm2-file.ts';
import { describeGeneratorContract } from '../contracts/generator-contract.ts';
import { builtProgram } from '../support/built-program.ts';
import { closedAfterAll } from '../support/closed-after-each.ts';
import { llamaCppPython, startLlamaCpp } from '../support/gguf/real-llama-cpp.ts';
import {
  askOpenai,
  capturedOpenai,
  comparable,
  halfCharacter,
} from '../support/openai/openai-exchanges.ts';
import { openedOpenai } from '../support/openai/opened-openai.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';
import { gapOf, localEngine } from '../support/sampled-gaps.ts';
import { starter } from '../support/vllm/opened-vllm.ts';
import { startVllm, vllmProgram } from '../support/vllm/real-vllm.ts';

// Real servers of the OpenAI API: that of llama.cpp on SmolLM2-135M as it is published (Q4_1), held against the same model in our
// engine, and vLLM on a CPU. AGENT_RL_LLAMA_CPP_PYTHON and AGENT_RL_VLLM_PYTHON name a Python that has them; otherwise they are
// installed.

const folder = temporaryFolder();
const closing = closedAfterAll();

interface Measured {
  what: string;
  prompt: readonly number[];
  maxTokens: number;
  samples: number;
  temperature?: number;
}

/** How far log-probabilities are from the model in a folder, in nats. */
async function gapTo(model: string, generator: Generator, measured: Measured) {
  const { what, prompt, samples, ...asked } = measured;
  const prompts = Array.from({ length: samples }, () => prompt);
  const engine = await localEngine(model, { scores: { longestTokens: 256 } });
  try {
    const gap = await gapOf(generator, scorerOf(engine.learner), { prompts, seed: 5, ...asked });
    process.stderr.write(
      `${what}: up to ${gap.largest.toExponential(2)} nats, ${gap.mean.toExponential(2)} in the mean of ${gap.tokens} tokens\n`,
    );
    return gap;
  } finally {
    await engine.close();
  }
}

describe('The server llama.cpp', () => {
  const model = join(folder, 'smollm2');
  let [url, python, file] = ['', '', ''];
  const startedLlamaCpp = async (float32?: string) => {
    const server = await startLlamaCpp(python, file, 'smollm2', float32);
    closing.push({ close: server.kill });
    return server;
  };
  beforeAll(async () => {
    python = llamaCppPython(folder);
    file = smolLm2File(python, folder);
    await importGguf(file, model, 'F32');
    url = (await startedLlamaCpp()).url;
  });
  const opened = async (settings: object = {}, at = url) => {
    const names = { modelFolder: model, textFolder: model };
    const host = { ...names, vocabSize: 49_152, maxContextTokens: 256 };
    const { generator } = await openedOpenai([at], { requestsAtOnce: 2, ...settings }, host);
    closing.push(generator);
    return generator;
  };

  test('answers as it did when its answers were captured', async () => {
    const real = comparable(capturedOpenai('llama-cpp').exchanges);
    expect(comparable(await askOpenai('llama-cpp', url))).toEqual(real);
  });

  describeGeneratorContract('The generator openai on llama.cpp', {
    open: () => opened(),
    vocabSize: 49_152,
    timeoutS: 300,
  });

  const prompt = [1, 4093, 198, 1780, 314, 260, 3575, 282, 4649, 47, 2, 198, 1, 520, 9531, 198];

  test('measures how far the default is from the weights, since it rounds activations to bytes', async () => {
    const generator = await opened({ deadlineS: 600 });
    const what = 'llama.cpp (Q4_1) against ours in float32';
    const gap = await gapTo(model, generator, { what, prompt, maxTokens: 32, samples: 8 });
    expect(gap.tokens).toBe(256);
    expect(gap.mean).toBeLessThan(0.2);
  });

  test('gives the log-probabilities of the weights in float32, also for partial characters', async () => {
    const server = await startedLlamaCpp(join(folder, 'float32.gguf'));
    const generator = await opened({ deadlineS: 600 }, server.url);
    const what = 'llama.cpp in float32 against ours';
    const whole = await gapTo(model, generator, { what, prompt, maxTokens: 32, samples: 8 });
    expect(whole.largest).toBeLessThan(5e-4);
    // After halves of characters come more of them.
    const halves = [halfCharacter, 241, halfCharacter, 241, halfCharacter];
    const asked = {
      what: 'behind halves of characters',
      prompt: halves,
      maxTokens: 16,
      samples: 4,
    };
    expect((await gapTo(model, generator, asked)).largest).toBeLessThan(5e-4);
    const colder = { ...asked, what: 'at temperature 0.5', samples: 2, temperature: 0.5 };
    expect((await gapTo(model, generator, colder)).largest).toBeLessThan(1e-3);
  });

  test('evaluates sums with agent-rl eval and reports the distance from the model', () => {
    const rows = [2, 5, 7].map((a) =>
      JSON.stringify({ id: `sum-${a}`, question: `What is ${a} + 4?`, answer: String(a + 4) }),
    );
    writeBelow(folder, 'sums/test.jsonl', `${rows.join('\n')}\n`);
    const run = {
      environment: { type: 'question', match: 'number' },
      datasets: [{ dir: 'sums', columns: { question: 'question', answer: 'answer' } }],
      dataset: { evalSplit: 'test' },
      model: { path: 'smollm2' },
      run: { engineThreads: 1 },
      policy: { type: 'huggingface', maxTurnTokens: 48, maxContextTokens: 256 },
      rollout: { maxEpisodeTokens: 256, workers: 2 },
      generator: { type: 'openai', urls: [url], requestsAtOnce: 2 },
    };
    const config = writeBelow(folder, 'sums.yaml', JSON.stringify(run));
    const refused = builtProgram('agent-rl', ['eval', '--config', config], folder);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toMatch(/largest difference over 64 tokens is .*0\.001 is allowed/);
    const args = ['eval', '--config', config, '--set', 'generator.tolerance=1', '--json'];
    const ended = builtProgram('agent-rl', args, folder);
    expect(ended).toMatchObject({ code: 0 });
    const said = /Log-probabilities of .* differ by up to (\S+) nats, (\S+) on average/;
    const [measured = 'nothing measured', largest] = said.exec(ended.stderr) ?? [];
    process.stderr.write(`${measured}\n`);
    expect(Number(largest)).toBeLessThan(1);
    expect(JSON.parse(ended.stdout)).toMatchObject({ tasks: 3, n: 3, failed: 0 });
  });
});

describe('The generator openai on vLLM', () => {
  let url = '';
  beforeAll(async () => {
    const program = vllmProgram(folder);
    const server = await startVllm(program, starter, { log: join(folder, 'vllm.log') });
    closing.push({ close: () => server.kill() });
    await server.ready;
    url = server.url;
  });

  test('answers as it did when its answers were captured', async () => {
    const real = comparable(capturedOpenai('vllm').exchanges);
    expect(comparable(await askOpenai('vllm', url))).toEqual(real);
  });

  test('gives the log-probabilities of the weights', async () => {
    const settings = { deadlineS: 1200 };
    const { generator } = await openedOpenai([url], settings, { maxContextTokens: 256 });
    closing.push(generator);
    const asked = { prompt: [1, 300, 301], maxTokens: 32, samples: 8 };
    const gap = await gapTo(starter, generator, { what: 'vLLM (float32) against ours', ...asked });
    expect(gap.largest).toBeLessThan(1e-4);
  });
});
