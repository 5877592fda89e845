import { AgentRlError } from '../../core/errors.ts';
import type {
  Generation,
  GenerationRequest,
  Generator,
  GeneratorInfo,
} from '../../core/services/generator.ts';
import type { WeightRef } from '../../core/services/weights.ts';
import type { RecordedTurns } from './recorded-turns.ts';

export interface ReplayGeneratorOptions {
  /** For messages. */
  run: string;
  turns: RecordedTurns;
  maxContextTokens: number;
}

/** Gives the tokens that a run recorded, with their log-probabilities, and draws none. */
export class ReplayGenerator implements Generator {
  #version: number | undefined;

  constructor(private readonly options: ReplayGeneratorOptions) {}

  async describe(): Promise<GeneratorInfo> {
    const { run, maxContextTokens } = this.options;
    return {
      name: `the record of ${run}`,
      maxContextTokens,
      reproducible: true,
      draws: false,
      takes: ['folder'],
    };
  }

  /**
   * @throws AgentRlError `RECORD_MISS` for what the run did not record, `GENERATION_FAILED` where the system failed in that run too
   */
  async generate(request: GenerationRequest): Promise<Generation> {
    const { run, turns } = this.options;
    const found = turns.find(request, this.#version);
    if (found.turn !== undefined) return found.turn;
    const { taskId, sample, turn, seed } = request.key;
    const where = `turn ${turn} of ${taskId}, sample ${sample}, seed ${seed}`;
    if (found.why === 'failed')
      throw new AgentRlError('GENERATION_FAILED', `${run} recorded a failure at ${where}.`);
    const version = this.#version === undefined ? 'any version' : `version ${this.#version}`;
    throw new AgentRlError(
      'RECORD_MISS',
      `The recorded run ${run} has no tokens of ${where} that ${version} of the weights sampled: ${reasons[found.why]}. Replay with the model, tasks, seed and settings of the recorded run.`,
    );
  }

  release(): void {
    // Nothing is kept for an episode.
  }

  /** The tokens were drawn from the weights of this version. */
  async use({ version }: WeightRef): Promise<void> {
    this.#version = version;
  }

  async close(): Promise<void> {
    // Nothing is open.
  }
}

const reasons = {
  'other-episode': 'it has no such episode',
  'other-context': 'its episode has a different context at this point',
  'not-sampled': 'these weights sampled nothing at this point',
};
