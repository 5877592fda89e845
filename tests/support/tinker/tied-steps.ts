import type { OptimStepMetrics, OptimStepOptions } from '#agent_rl/core/services/learner.ts';
import { AdamwState, type Parameters } from '#agent_rl/learner/adamw/adamw-state.ts';
import type { LocalLearner } from '#agent_rl/learner/local-learner.ts';

/** The layers that share their first matrix with the one they are listed under. */
const sharing: Readonly<Record<string, string>> = {
  'self_attn.k_proj.lora_A': 'self_attn.q_proj.lora_A',
  'self_attn.v_proj.lora_A': 'self_attn.q_proj.lora_A',
  'mlp.up_proj.lora_A': 'mlp.gate_proj.lora_A',
};

function ownerOf(name: string): string {
  const shared = Object.keys(sharing).find((part) => name.includes(part));
  return shared === undefined ? name : name.replace(shared, sharing[shared]!);
}

/**
 * Steps of our own learner as SkyRL takes them: it computes q, k and v as one product, gate and up too, whose adapters share
 * their first matrix, so that this has the gradient of all of them.
 */
export class TiedSteps {
  readonly #state: AdamwState;

  /** @param parameters the learner's own arrays, of what is trained; those that share a matrix begin with the same numbers */
  constructor(
    private readonly learner: LocalLearner,
    private readonly parameters: Parameters,
  ) {
    const owners = new Map([...parameters].filter(([name]) => ownerOf(name) === name));
    this.#state = new AdamwState(owners, new Set(owners.keys()));
  }

  async step(options: OptimStepOptions): Promise<Required<OptimStepMetrics>> {
    for (const name of this.parameters.keys()) {
      const gradient = this.learner.gradientOf(name);
      if (gradient !== undefined) this.#state.accumulate(ownerOf(name), gradient.slice());
    }
    await this.learner.discardGradients();
    const metrics = this.#state.step(options);
    for (const [name, values] of this.parameters) values.set(this.parameters.get(ownerOf(name))!);
    return metrics;
  }
}
