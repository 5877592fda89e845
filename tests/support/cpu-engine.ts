import { afterAll } from '@jest/globals';

import { OnnxEngine } from '#agent_rl/engine/onnx-engine.ts';

/** An engine on the processor, on one thread, for the tests of a file or a group; closed after them. */
export function cpuEngine(): OnnxEngine {
  const engine = new OnnxEngine({ device: 'cpu', threads: 1 });
  afterAll(() => engine.close());
  return engine;
}
