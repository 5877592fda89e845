/** How tokens are drawn. Truncation is off by default. */
export interface Sampling {
  /** 0 takes the likeliest token. */
  readonly temperature: number;
  /** Keeps the k likeliest tokens; 0 is off. */
  readonly topK: number;
  /** Keeps the likeliest tokens up to this mass; 1 is off. */
  readonly topP: number;
  /** Keeps tokens at least this share as likely as the likeliest; 0 is off. */
  readonly minP: number;
}

export const unbiased: Sampling = { temperature: 1, topK: 0, topP: 1, minP: 0 };
export const greedy: Sampling = { temperature: 0, topK: 0, topP: 1, minP: 0 };
