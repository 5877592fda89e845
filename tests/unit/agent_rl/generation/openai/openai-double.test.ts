import { expect, test } from '@jest/globals';

import { OpenaiDouble } from '#tests/support/openai/openai-double.ts';
import {
  askOpenai,
  capturedOpenai,
  comparable,
  halfCharacter,
} from '#tests/support/openai/openai-exchanges.ts';

test("the double of vLLM answers the generator's requests like vLLM 0.32.0", async () => {
  const double = await OpenaiDouble.start('vllm');
  try {
    const asked = new Set(['models', 'version', 'tokens', 'likeliest', 'no such token']);
    for (const name of ['no such model', 'too long', 'conversation']) asked.add(name);
    const only = (all: ReturnType<typeof comparable>) => all.filter(({ name }) => asked.has(name));
    const real = comparable(capturedOpenai('vllm').exchanges);
    expect(only(comparable(await askOpenai('vllm', double.url)))).toEqual(only(real));
  } finally {
    await double.close();
  }
});

test("the double of llama.cpp answers the generator's requests like xllamacpp 2026.10.11549", async () => {
  const options = { endsOfText: [2], halves: [halfCharacter] };
  const double = await OpenaiDouble.start('llama-cpp', options);
  try {
    const answered = new Map(
      comparable(await askOpenai('llama-cpp', double.url)).map((one) => [one.name, one]),
    );
    const real = comparable(capturedOpenai('llama-cpp').exchanges);
    for (const name of ['health', 'version', 'a few', 'no bias', 'half a character', 'template'])
      expect(answered.get(name)).toEqual(real.find((one) => one.name === name));
    // The double says nothing of texts and bytes, which nothing reads.
    for (const name of ['tokens', 'end of text', 'likeliest', 'likeliest at a temperature', 'list'])
      expect(real.find((one) => one.name === name)).toMatchObject(answered.get(name)!);
  } finally {
    await double.close();
  }
});
