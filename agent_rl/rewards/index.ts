import { AnswerSimilarity } from './answer-similarity/answer-similarity.ts';
import { brevity } from './brevity.ts';
import { exactMatch } from './exact-match.ts';
import { f1 } from './f1.ts';
import { format } from './format.ts';
import { integerAnswer } from './integer-answer.ts';
import { length } from './length.ts';
import { ModelJudge } from './model-judge/model-judge.ts';
import { builtInRewardManagers } from './managers/index.ts';
import { mrr } from './mrr.ts';
import { numeric } from './numeric/numeric.ts';
import { searchCost } from './search-cost.ts';
import { toolCalls } from './tool-calls.ts';
import { validCode } from './valid-code.ts';
import { wellFormedCalls } from './well-formed-calls.ts';

/** The rewards that come with the package. The environment's own is always there and is not among them. */
export const builtInRewards = [
  AnswerSimilarity,
  brevity,
  exactMatch,
  f1,
  format,
  integerAnswer,
  length,
  ModelJudge,
  mrr,
  numeric,
  searchCost,
  toolCalls,
  validCode,
  wellFormedCalls,
] as const;

export { builtInRewardManagers };

/** What judges episodes, and groups of them. */
export const builtInJudges = [...builtInRewards, ...builtInRewardManagers] as const;
