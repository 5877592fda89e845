import { AgentRlError, messageOf } from '../../../core/errors.ts';
import type { GeneratorHost } from '../../../core/plugins/model/generator.ts';
import { smallest } from '../../../core/long-lists.ts';
import type { Generator } from '../../../core/services/generator.ts';
import { RemoteGenerator, type RemoteGeneratorOptions } from '../remote-generator.ts';
import { RemoteServer } from '../remote-server.ts';
import { clientsOf, type RemoteSettings } from '../remote-settings.ts';
import { type DrawScored, ScoreCheck } from '../score-check.ts';
import { isPassing } from '../server-failures.ts';

/** The parts needed to find out what a server is. */
export interface FactsRequest {
  server: RemoteServer;
  /** The server's name of the model. */
  model: string;
  /** Seconds for each answer; the first takes long where the server compiles. */
  deadlineS: number;
  signal: AbortSignal;
}

/**
 * Opens a generator over the servers that settings name. They are closed again when that fails.
 *
 * @param hint what to do about a server that does not answer
 * @throws AgentRlError `CONFIG_INVALID` for a server that cannot be asked; what opening throws
 */
export async function openWithServers(
  settings: RemoteSettings,
  { user, hint, host }: { user: string; hint: string; host: GeneratorHost },
  open: (servers: readonly RemoteServer[]) => Promise<Generator>,
): Promise<Generator> {
  const { requestsAtOnce } = settings;
  const servers = clientsOf(settings, user, host).map(
    ({ url, http }) => new RemoteServer({ url, http, requestsAtOnce, model: '' }),
  );
  try {
    return await open(servers);
  } catch (thrown) {
    await Promise.all(servers.map((server) => server.close()));
    if (!isPassing(thrown)) throw thrown;
    throw new AgentRlError('CONFIG_INVALID', `generator.urls: ${messageOf(thrown)} ${hint}`, {
      cause: thrown,
    });
  }
}

interface Examined extends Pick<
  RemoteGeneratorOptions,
  'name' | 'servers' | 'protocol' | 'samplingProblem' | 'shipping'
> {
  /** Of each server. */
  maxContextTokens: readonly number[];
}

/** The generator over servers that suit the run. @throws AgentRlError `CONFIG_INVALID` where it samples as they cannot */
export async function generatorOver(
  { name, maxContextTokens, ...examined }: Examined,
  settings: RemoteSettings,
  host: GeneratorHost,
): Promise<RemoteGenerator> {
  const { servers, samplingProblem } = examined;
  const refused = host.samplings.map(samplingProblem).find((problem) => problem !== undefined);
  if (refused !== undefined) throw new AgentRlError('CONFIG_INVALID', refused);
  const { vocabSize, warn } = host;
  const { deadlineS, patienceS } = settings;
  const generator = new RemoteGenerator({
    ...examined,
    name: `${name} at ${servers.map(({ url }) => url).join(', ')}`,
    maxContextTokens: smallest([host.maxContextTokens, ...maxContextTokens]),
    vocabSize,
    deadlineS,
    patienceS,
    warn,
  });
  await compareInEvaluation(generator.draws(), settings, host);
  return generator;
}

/**
 * Holds servers whose weights stay against the run's model, and says how far they are from it. In a training that is done with the
 * first weights that are published.
 *
 * @throws AgentRlError `GENERATION_FAILED` that names the token and both numbers
 */
export async function compareInEvaluation(
  draws: ReadonlyMap<string, DrawScored>,
  {
    compareInEvaluation: compares,
    tolerance,
  }: Pick<RemoteSettings, 'compareInEvaluation' | 'tolerance'>,
  { trains, scorer, vocabSize, warn, signal }: GeneratorHost,
): Promise<void> {
  if (trains) return;
  if (!compares) {
    warn(
      "The run does not compare the servers' log-probabilities with its own model (generator.compareInEvaluation is false).",
    );
    return;
  }
  const check = new ScoreCheck({ vocabSize, tolerance });
  for (const [url, draw] of draws) {
    const { largest, mean, tokens } = await check.hold(url, draw, scorer, signal);
    warn(
      `Log-probabilities of ${url} and of the run's model differ by up to ${largest.toPrecision(2)} nats, ${mean.toPrecision(2)} on average over ${tokens} tokens; up to ${tolerance} is allowed (generator.tolerance).`,
    );
  }
}
