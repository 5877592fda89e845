import type { GeneratorHost } from '../../core/plugins/model/generator.ts';
import type { RemoteGenerator } from './remote-generator.ts';
import type { RemoteSettings } from './remote-settings.ts';
import type { ScoreCheck } from './score-check.ts';

/**
 * Holds servers whose weights stay against the run's model. In a training that is done with the first weights that are published.
 *
 * @throws AgentRlError `GENERATION_FAILED` that names the token and both numbers
 */
export async function compareInEvaluation(
  generator: RemoteGenerator,
  check: ScoreCheck,
  settings: Pick<RemoteSettings, 'compareInEvaluation'>,
  { trains, scorer, warn, signal }: GeneratorHost,
): Promise<void> {
  if (trains) return;
  if (!settings.compareInEvaluation) {
    warn(
      "The servers' log-probabilities are not compared with the run's model (generator.compareInEvaluation).",
    );
    return;
  }
  for (const [url, draw] of generator.draws()) await check.hold(url, draw, scorer, signal);
}
