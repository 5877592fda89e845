import type { GeneratorHost } from '../../../core/plugins/model/generator.ts';
import type { RemoteSettings } from '../remote-settings.ts';
import type { DrawScored, ScoreCheck } from '../score-check.ts';

/**
 * Holds servers whose weights stay against the run's model, and says how far they are from it. In a training that is done with the
 * first weights that are published.
 *
 * @throws AgentRlError `GENERATION_FAILED` that names the token and both numbers
 */
export async function compareInEvaluation(
  draws: ReadonlyMap<string, DrawScored>,
  check: ScoreCheck,
  settings: Pick<RemoteSettings, 'compareInEvaluation' | 'tolerance'>,
  { trains, scorer, warn, signal }: GeneratorHost,
): Promise<void> {
  if (trains) return;
  if (!settings.compareInEvaluation) {
    warn(
      "The servers' log-probabilities are not compared with the run's model (generator.compareInEvaluation).",
    );
    return;
  }
  for (const [url, draw] of draws) {
    const { largest, mean, tokens } = await check.hold(url, draw, scorer, signal);
    warn(
      `Log-probabilities of ${url} differ from those of the run's model by up to ${largest.toPrecision(2)} nats, ${mean.toPrecision(2)} in the mean of ${tokens} tokens; allowed are ${settings.tolerance} (generator.tolerance).`,
    );
  }
}
