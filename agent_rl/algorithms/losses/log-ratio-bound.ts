/**
 * Differences of log-probabilities are cut to ± this many nats before they are exponentiated: exp(20) is 5e8, and
 * further out a single token overflows fp32 and ruins the step. A cut token has no gradient and is counted in
 * `guarded`.
 */
export const logRatioBound = 20;
