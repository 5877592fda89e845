import type { Generation, GenerationRequest } from '../../core/services/generator.ts';
import { generationProblem } from '../generation-problem.ts';
import type { RemoteServer } from './remote-server.ts';
import { AskAgain, OtherWeights, UnusableAnswer } from './server-failures.ts';
import type { Asked, Drawn } from './server-protocol.ts';

/**
 * Holds an answer against what was asked for, before anything is learned from it.
 *
 * @throws UnusableAnswer, OtherWeights; AskAgain when the server gave the request up
 */
export function checkDrawn(
  drawn: Drawn,
  { tokens, stopTokens }: Pick<GenerationRequest, 'tokens' | 'stopTokens'>,
  { asked, server, vocabSize }: { asked: Asked; server: RemoteServer; vocabSize: number },
): void {
  if (drawn.ended === 'abort') throw new AskAgain(`${server.url} gave the request up.`);
  const problem =
    shapeProblem(drawn, stopTokens, { ...asked, vocabSize }) ?? contextProblem(drawn, tokens);
  if (problem !== undefined) throw new UnusableAnswer(`${server.url}: ${problem}.`);
  const { model = asked.model, weights = [] } = drawn;
  if (model !== asked.model)
    throw new OtherWeights(`${server.url} answers as model ${model}; asked was ${asked.model}.`);
  const other = weights.find((name) => name !== server.weights);
  if (other !== undefined)
    throw new OtherWeights(
      `${server.url} drew from weights ${other}; it was told to use ${server.weights}.`,
    );
}

function shapeProblem(
  { tokens, logProbs, ended }: Drawn,
  stopTokens: readonly number[],
  { maxTokens, vocabSize }: { maxTokens: number; vocabSize: number },
): string | undefined {
  const stop: Generation['stop'] = ended === 'stop' ? 'stop-token' : 'max-tokens';
  const made = { tokens, logProbs, stop, version: 0 };
  const problem = generationProblem(made, { maxTokens, stopTokens, vocabSize });
  if (problem !== undefined) return problem;
  if (ended === 'length' && tokens.length < maxTokens)
    return `it ended for length after ${tokens.length} of ${maxTokens} tokens`;
  if (ended === 'early' && tokens.length === 0) return 'it ended by itself before any token';
  const passed = tokens.slice(0, -1).find((token) => stopTokens.includes(token));
  return passed === undefined ? undefined : `it goes on behind stop token ${passed}`;
}

const contextProblem = (
  { contextTokens }: Drawn,
  { length }: readonly number[],
): string | undefined =>
  contextTokens === undefined || contextTokens === length
    ? undefined
    : `it counts ${contextTokens} tokens of context; sent were ${length}`;
