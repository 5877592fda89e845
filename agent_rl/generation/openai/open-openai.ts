import { generator, type GeneratorHost } from '../../core/plugins/model/generator.ts';
import type { Sampling } from '../../core/services/generator.ts';
import { notPlainProblem, servedModel, requireTemplate } from '../remote/opening/served-models.ts';
import { generatorOver, openWithServers } from '../remote/opening/open-remote.ts';
import type { RemoteGenerator } from '../remote/remote-generator.ts';
import type { RemoteServer } from '../remote/remote-server.ts';
import { RemoteSettings, unsuited } from '../remote/remote-settings.ts';
import type { Dialect } from './dialect.ts';
import { dialectOf, logProbKindOf, refuseTraining, requireVocabulary } from './openai-facts.ts';

/** What was found out of a server. */
interface Found {
  server: RemoteServer;
  dialect: Dialect;
  /** Whether log-probabilities are known to be of what is drawn from. */
  isOfDrawn: boolean;
  maxContextTokens: number;
}

/** Servers of the OpenAI API. @throws AgentRlError `CONFIG_INVALID` for a server that does not suit the run */
export const openaiGenerator = generator({
  name: 'openai',
  description:
    'Generates on servers with the OpenAI API that return token ids and log-probabilities, such as llama.cpp and vLLM. For evaluations only.',
  settings: RemoteSettings,
})((settings: RemoteSettings, host) =>
  openWithServers(
    settings,
    { user: 'generator openai', hint: 'Start the server first.', host },
    async (servers) => {
      if (host.trains) await refuseTraining(servers[0]!, host.signal);
      return openOn(servers, settings, host);
    },
  ),
);

async function openOn(
  servers: readonly RemoteServer[],
  settings: RemoteSettings,
  host: GeneratorHost,
): Promise<RemoteGenerator> {
  const found = await Promise.all(servers.map((server) => examined(server, settings, host)));
  const dialect = sharedDialect(found);
  const { vocabSize, warn } = host;
  return generatorOver(
    {
      name: `OpenAI API as in ${dialect.name},`,
      servers,
      protocol: dialect.protocol({ vocabSize, onPassed: toldOnce(warn) }),
      maxContextTokens: found.map(({ maxContextTokens }) => maxContextTokens),
      samplingProblem: problemWith(found),
    },
    settings,
    host,
  );
}

async function examined(
  server: RemoteServer,
  { model: wanted, deadlineS }: RemoteSettings,
  host: GeneratorHost,
): Promise<Found> {
  const { signal, vocabSize, maxContextTokens, warn } = host;
  const served = await servedModel(server, wanted, signal);
  const request = { server, model: served.id, deadlineS, signal };
  const dialect = await dialectOf(request);
  warn(`${server.url} returns token ids and log-probabilities in the format of ${dialect.name}.`);
  await requireVocabulary(request, served.vocabSize, host);
  await requireTemplate(server, dialect.writes(served.id), host);
  const kind = await logProbKindOf(request, dialect, vocabSize);
  server.model = served.id;
  return {
    server,
    dialect,
    isOfDrawn: kind === 'drawn',
    maxContextTokens: served.maxContextTokens ?? maxContextTokens,
  };
}

/** @throws AgentRlError `CONFIG_INVALID`: an episode may go from one server to another */
function sharedDialect(found: readonly Found[]): Dialect {
  const [first, ...others] = found;
  const other = others.find(({ dialect }) => dialect !== first!.dialect);
  if (other === undefined) return first!.dialect;
  throw unsuited(
    other.server.url,
    `answers in the format of ${other.dialect.name}, but ${first!.server.url} answers in the format of ${first!.dialect.name}. Use servers of one kind.`,
  );
}

const problemWith =
  (found: readonly Found[]) =>
  (sampling: Sampling): string | undefined =>
    found[0]?.dialect.samplingProblem?.(sampling) ??
    (found.every(({ isOfDrawn }) => isOfDrawn)
      ? undefined
      : notPlainProblem(sampling, {
          gives: 'log-probabilities that may ignore the sampling settings',
          advice:
            'Make it return log-probabilities of the distribution that it samples from (vLLM: --logprobs-mode processed_logprobs; llama.cpp: a version with post_sampling_probs)',
        }));

const toldOnce = (warn: (text: string) => void) => {
  const told = new Set<number>();
  return (token: number): void => {
    if (told.has(token)) return;
    told.add(token);
    warn(
      `A server keeps sampling after token ${token}, although that token ends a turn in this run. The run discards the extra tokens, which wastes time.`,
    );
  };
};
