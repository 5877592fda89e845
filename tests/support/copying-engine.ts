import type { CompileOptions } from '#agent_rl/engine/engine.ts';
import { OnnxEngine } from '#agent_rl/engine/onnx-engine.ts';

/** The processor, as a device that inputs are copied to. Notes what each program was compiled with. */
export class CopyingEngine extends OnnxEngine {
  override readonly copiesInputs = true;
  readonly #held: string[][] = [];

  override compile(...[specs, body, options]: Parameters<OnnxEngine['compile']>) {
    this.#note(options);
    return super.compile(specs, body, options);
  }

  override compileSized(...[of, names, options]: Parameters<OnnxEngine['compileSized']>) {
    this.#note(options);
    return super.compileSized(of, names, options);
  }

  /** Names of the constants of each program since it was asked last. */
  takeHeld(): string[][] {
    return this.#held.splice(0);
  }

  #note({ constants = {} }: CompileOptions = {}): void {
    this.#held.push(Object.keys(constants));
  }
}
