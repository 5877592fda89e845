import { ranking } from './ranking.ts';
import { l2, normalised, pca, std, uniform, weighted } from './schemes.ts';

/** The reward managers that come with the package. */
export const builtInRewardManagers = [
  weighted,
  uniform,
  std,
  pca,
  l2,
  normalised,
  ranking,
] as const;
