import { afterAll } from '@jest/globals';

import type { CompileOptions } from '#agent_rl/engine/engine.ts';
import { OnnxEngine } from '#agent_rl/engine/onnx-engine.ts';

/** The processor, as a device that inputs are copied to. Notes what each program was compiled with. */
export class CopyingEngine extends OnnxEngine {
  override readonly copiesInputs = true;
  /** What programs wait for before they are disposed. */
  hold: Promise<void> = Promise.resolve();
  readonly #held: string[][] = [];

  override async compile(...[specs, body, options]: Parameters<OnnxEngine['compile']>) {
    this.#note(options);
    return this.#holding(await super.compile(specs, body, options));
  }

  override async compileSized(...[of, names, options]: Parameters<OnnxEngine['compileSized']>) {
    this.#note(options);
    return this.#holding(await super.compileSized(of, names, options));
  }

  #holding<Made extends { dispose: () => Promise<void> }>(program: Made): Made {
    const dispose = async (): Promise<void> => {
      await this.hold;
      await program.dispose();
    };
    return { ...program, dispose };
  }

  /** Names of the constants of each program since it was asked last. */
  takeHeld(): string[][] {
    return this.#held.splice(0);
  }

  #note({ constants = {} }: CompileOptions = {}): void {
    this.#held.push(Object.keys(constants));
  }
}

/** The processor as itself and as a device that inputs are copied to, closed after the tests of a file. */
export function plainAndCopying(): { plain: OnnxEngine; copying: CopyingEngine } {
  const options = { device: 'cpu', threads: 1 } as const;
  const [plain, copying] = [new OnnxEngine(options), new CopyingEngine(options)];
  afterAll(() => Promise.all([plain.close(), copying.close()]));
  return { plain, copying };
}
