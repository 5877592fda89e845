import { Type, type Static } from '../../core/typebox.ts';
import { AgentRlError } from '../../core/errors.ts';
import { isRecord } from '../../core/is-record.ts';
import { generator, type GeneratorHost } from '../../core/plugins/model/generator.ts';
import { secretOf } from '../../core/wire/secret-of.ts';
import { HttpClient, NoAnswer } from '../../http/http-client.ts';
import { serverUrl } from '../../http/server-url.ts';
import { textFingerprint } from '../../../model/text/text-fingerprint.ts';
import { compareInEvaluation } from '../remote/opening/open-remote.ts';
import { remoteSettings } from '../remote/remote-settings.ts';
import type { DrawScored } from '../remote/score-check.ts';
import { paths, protocolVersion, type ServerInfo } from './protocol.ts';
import { ServedGenerator } from './served-generator.ts';

const ServedSettings = Type.Object({
  url: Type.String({ description: 'Address of agent-rl serve.', minLength: 1 }),
  apiKeyEnv: Type.Optional(
    Type.String({ description: 'Environment variable that holds the key.', minLength: 1 }),
  ),
  deadlineS: Type.Number({
    description:
      'Seconds that the server may take to answer a request, including time in its queue. A long turn is split into requests; each asks for at most 1,024 tokens and at most 2 tokens per second of this limit.',
    exclusiveMinimum: 0,
    maximum: 86_400,
    default: 600,
  }),
  patienceS: Type.Number({
    description: 'Seconds that the server may be unreachable before the run fails.',
    minimum: 0,
    maximum: 86_400,
    default: 60,
  }),
  tolerance: remoteSettings.tolerance,
  compareInEvaluation: remoteSettings.compareInEvaluation,
});
type ServedSettings = Static<typeof ServedSettings>;

/** Seconds that the server may take to say what it is. */
const helloS = 20;

/** The generator of `agent-rl serve`. @throws AgentRlError `CONFIG_INVALID` for a server that does not suit the run */
export const servedGenerator = generator({
  name: 'served',
  description:
    'Generates in another process, which runs agent-rl serve. Training requires --accept-weights there; the tokens are then the same as with generator.type engine.',
  settings: ServedSettings,
})(async (settings: ServedSettings, host) => {
  const url = serverUrl(settings.url, 'generator.url', 'generator.apiKeyEnv');
  const { apiKeyEnv, deadlineS, patienceS } = settings;
  const { environment } = host;
  const token = apiKeyEnv && secretOf(apiKeyEnv, { user: 'generator served', environment });
  const http = new HttpClient({
    url,
    token,
    connections: host.episodes + 2,
    pauseMs: 200,
    onRetry: host.warn,
  });
  try {
    const info = await infoOf(http, host.signal);
    await refuseOther(info, url, host);
    if (info.packs)
      host.warn(
        `agent-rl serve at ${url} packs its weights for speed, so log-probabilities differ from generator.type engine by rounding, and a seed may occasionally give a different token. For identical results, start it with --accept-weights, which also lets clients replace its weights.`,
      );
    const { warn } = host;
    const served = new ServedGenerator({ http, url, deadlineS, patienceS, info, warn });
    const draw: DrawScored = async (request, signal) => {
      const drawn = await served.generate(request, signal);
      served.release(request.episode);
      return drawn;
    };
    const draws = new Map([[url, draw]]);
    await compareInEvaluation(draws, settings, host);
    return served;
  } catch (thrown) {
    await http.close();
    throw thrown instanceof NoAnswer
      ? new AgentRlError(
          'CONFIG_INVALID',
          `generator.url: ${thrown.message}. Start agent-rl serve at this address first, or use generator.type engine.`,
          { cause: thrown },
        )
      : thrown;
  }
});

async function infoOf(http: HttpClient, signal: AbortSignal): Promise<ServerInfo> {
  const request = { method: 'GET', path: paths.info, deadlineS: helloS, again: true } as const;
  const { status, json, text } = await http.send(request, signal);
  if (status === 401)
    throw refused(
      'rejected the key. Set generator.apiKeyEnv to the environment variable that holds the right one',
    );
  const info = isRecord(json) ? (json as unknown as ServerInfo) : undefined;
  if (status !== 200 || info === undefined)
    throw refused(
      `answered ${status} ${JSON.stringify(text.slice(0, 80))}, which is not an answer of agent-rl serve`,
    );
  if (info.protocol !== protocolVersion)
    throw refused(
      `speaks version ${String(info.protocol)} of the protocol, but this program speaks version ${protocolVersion}. Use the same version of agent_rl on both sides`,
    );
  return info;
}

/** The server is to have the run's model in all but its weights, and room for its episodes. */
async function refuseOther(info: ServerInfo, url: string, host: GeneratorHost): Promise<void> {
  const { vocabSize, episodes, trains, textFolder } = host;
  if (info.vocabSize !== vocabSize)
    throw refused(
      `has a vocabulary of ${info.vocabSize} tokens, but the run's model has ${vocabSize}. Serve the run's model`,
    );
  if (info.text !== (await textFingerprint(textFolder)))
    throw refused("does not use the tokenizer of the run's model. Serve the run's model");
  if (info.requests < episodes)
    throw refused(
      `accepts ${info.requests} requests at once, but the run has ${episodes} episodes (rollout.workers). Start it with --requests ${episodes}`,
    );
  if (trains && host.newAdapter)
    throw refused(
      'cannot receive an adapter, but the run trains one (model.lora). Train the whole model, or use generator.type engine',
    );
  if (trains && !info.acceptsWeights)
    throw refused(`does not accept new weights. To train with it, start it with --accept-weights`);
}

const refused = (problem: string): AgentRlError =>
  new AgentRlError('CONFIG_INVALID', `generator.url: the server ${problem}.`);
