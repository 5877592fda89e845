import type {
  Llama3Scaling,
  ModelConfig,
  RopeScaling,
  YarnScaling,
} from '../config/architecture.ts';
import { isRecord } from '../../agent_rl/core/is-record.ts';
import { JsonFields } from '../config/json-fields.ts';

type Rope = Pick<ModelConfig, 'ropeTheta' | 'ropeScaling'>;

interface RopeDefaults {
  theta: number;
  /** What `original_max_position_embeddings` is where nothing says so. */
  maxPositions: number;
}

type Json = Readonly<Record<string, unknown>>;

/** What MiniMind's `inference_rope_scaling` stands for, once there are more positions than these. */
const miniMindScaling: YarnScaling = {
  type: 'yarn',
  factor: 16,
  originalPositions: 2048,
  attentionFactor: 1,
  betaFast: 32,
  betaSlow: 1,
  truncate: true,
};

/**
 * Reads the rotary embedding of a config.json: `rope_scaling` as it has always been, with `type` or `rope_type`, or
 * `rope_parameters`, which also holds the base, as later versions of `transformers` write it. Where both are given the
 * former counts, and a base in there before one beside it, as in `transformers`.
 */
export function readRope(raw: Json, fields: JsonFields, defaults: RopeDefaults): Rope {
  const name = isFilled(raw['rope_scaling']) ? 'rope_scaling' : 'rope_parameters';
  const json = isFilled(raw[name]) ? raw[name] : {};
  const parameters = new JsonFields(json, fields.problems, `${name}.`);
  const theta = fields.positive('rope_theta', defaults.theta);
  const ropeTheta = parameters.positive('rope_theta', theta);
  for (const { prefix, raw: holder } of [fields, parameters]) {
    const part = holder['partial_rotary_factor'] ?? 1;
    if (part !== 1) {
      fields.problems.push(
        `${prefix}partial_rotary_factor is ${JSON.stringify(part)}; only rotation of whole heads (1) is supported.`,
      );
    }
  }
  if (raw['inference_rope_scaling'] === true) {
    if (defaults.maxPositions <= miniMindScaling.originalPositions) return { ropeTheta };
    return { ropeTheta, ropeScaling: miniMindScaling };
  }
  const original = new JsonFields(
    { ...json, ...definedOnly(raw, 'original_max_position_embeddings') },
    fields.problems,
    `${name}.`,
  );
  const ropeScaling = scalingOf(original, defaults.maxPositions, name);
  return ropeScaling === undefined ? { ropeTheta } : { ropeTheta, ropeScaling };
}

function scalingOf(
  fields: JsonFields,
  maxPositions: number,
  name: string,
): RopeScaling | undefined {
  const type = fields.raw['rope_type'] ?? fields.raw['type'] ?? 'default';
  if (type === 'default') return undefined;
  if (type === 'linear') return { type, factor: fields.positive('factor') };
  if (type === 'llama3') return llama3Of(fields, maxPositions);
  if (type === 'yarn') return yarnOf(fields, maxPositions);
  fields.problems.push(
    `${name} is ${JSON.stringify(fields.raw)}; supported rotary scalings: linear, llama3, yarn.`,
  );
  return undefined;
}

function llama3Of(fields: JsonFields, maxPositions: number): Llama3Scaling {
  const low = fields.positive('low_freq_factor');
  const high = fields.positive('high_freq_factor');
  if (low >= high) {
    fields.problems.push(
      `${fields.prefix}low_freq_factor is ${low} and high_freq_factor ${high}; low_freq_factor must be the smaller one.`,
    );
  }
  return {
    type: 'llama3',
    factor: fields.positive('factor'),
    lowFrequencyTurns: low,
    highFrequencyTurns: high,
    originalPositions: fields.count('original_max_position_embeddings', maxPositions),
  };
}

function yarnOf(fields: JsonFields, maxPositions: number): YarnScaling {
  const originalPositions = fields.count('original_max_position_embeddings', maxPositions);
  const factor =
    fields.raw['factor'] === null ? maxPositions / originalPositions : fields.positive('factor');
  const betaFast = fields.positive('beta_fast', 32);
  const betaSlow = fields.positive('beta_slow', 1);
  if (betaFast < betaSlow) {
    fields.problems.push(
      `${fields.prefix}beta_fast is ${betaFast} and beta_slow ${betaSlow}; beta_fast must be at least beta_slow.`,
    );
  }
  return {
    type: 'yarn',
    factor,
    originalPositions,
    attentionFactor: fields.positive('attention_factor', attentionFactorOf(fields, factor)),
    betaFast,
    betaSlow,
    truncate: fields.flag('truncate', true),
  };
}

/** As the paper advises, or the ratio of two such where a file gives two weights (DeepSeek's `mscale`). */
function attentionFactorOf({ raw }: JsonFields, factor: number): number {
  const [above, below] = [Number(raw['mscale'] ?? 0), Number(raw['mscale_all_dim'] ?? 0)];
  if (above === 0 || below === 0) return advisedFactor(factor, 1);
  return advisedFactor(factor, above) / advisedFactor(factor, below);
}

const advisedFactor = (factor: number, weight: number): number =>
  factor <= 1 ? 1 : 0.1 * weight * Math.log(factor) + 1;

/** `rope_scaling` of a config.json. */
export function writtenRopeScaling(scaling: RopeScaling): Record<string, unknown> {
  const { type, factor } = scaling;
  if (type === 'linear') return { rope_type: type, factor };
  const { originalPositions } = scaling;
  const common = { rope_type: type, factor, original_max_position_embeddings: originalPositions };
  if (type === 'llama3') {
    const { lowFrequencyTurns, highFrequencyTurns } = scaling;
    return { ...common, low_freq_factor: lowFrequencyTurns, high_freq_factor: highFrequencyTurns };
  }
  const { attentionFactor, betaFast, betaSlow, truncate } = scaling;
  return {
    ...common,
    // Left out where it follows: `transformers` complains of a whole number here.
    ...(attentionFactor === advisedFactor(factor, 1) ? {} : { attention_factor: attentionFactor }),
    beta_fast: betaFast,
    beta_slow: betaSlow,
    ...(truncate ? {} : { truncate }),
  };
}

const isFilled = (value: unknown): value is Json =>
  isRecord(value) && Object.keys(value).length > 0;

const definedOnly = (raw: Json, name: string): Json =>
  raw[name] === undefined || raw[name] === null ? {} : { [name]: raw[name] };
