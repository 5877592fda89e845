import { EagerEngine } from '#agent_rl/engine/eager-engine.ts';
import type { Engine } from '#agent_rl/engine/engine.ts';
import { OnnxEngine } from '#agent_rl/engine/onnx-engine.ts';

/** Ways to run a program: recorded and compiled, and operation by operation. */
export const bothEngines: readonly {
  kind: string;
  open: () => Engine | Promise<Engine>;
}[] = [
  { kind: 'compiled', open: () => new OnnxEngine({ device: 'cpu', threads: 1 }) },
  { kind: 'eager', open: () => EagerEngine.open('cpu') },
];
