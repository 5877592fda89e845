import { expect, test } from '@jest/globals';

import { VllmDouble } from '#tests/support/vllm/vllm-double.ts';
import { askVllm, breaking, capturedVllm, comparable } from '#tests/support/vllm/vllm-exchanges.ts';

test('the double answers like vLLM 0.32.0', async () => {
  const double = await VllmDouble.start();
  try {
    const real = capturedVllm().exchanges.filter(({ name }) => name !== breaking);
    expect(comparable(await askVllm(double.url))).toEqual(comparable(real));
  } finally {
    await double.close();
  }
});
