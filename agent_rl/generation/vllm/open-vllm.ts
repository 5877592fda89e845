import { tmpdir } from 'node:os';

import { type Static, Type } from '../../core/typebox.ts';
import { AgentRlError } from '../../core/errors.ts';
import { generator, type GeneratorHost } from '../../core/plugins/model/generator.ts';
import type { Sampling } from '../../core/services/generator.ts';
import type { RemoteGenerator } from '../remote/remote-generator.ts';
import type { RemoteServer } from '../remote/remote-server.ts';
import { remoteSettings, unsuited } from '../remote/remote-settings.ts';
import { ScoreCheck } from '../remote/score-check.ts';
import { notPlainProblem, servedModel, requireTemplate } from '../remote/opening/served-models.ts';
import { generatorOver, openWithServers } from '../remote/opening/open-remote.ts';
import { WeightShipping } from '../remote/weight-shipping.ts';
import { generateProtocol } from './generate-protocol.ts';
import { givesProcessed, rendersOf, requireVocabulary, weightsOut } from './vllm-facts.ts';
import { VllmWeights } from './vllm-weights.ts';

const VllmSettings = Type.Object({
  ...remoteSettings,
  weightsFolder: Type.Optional(
    Type.String({
      description:
        'Folder that this machine and the servers share; training sends weights through it. By default the temporary folder of this machine.',
      minLength: 1,
    }),
  ),
  weightsFolderOnServers: Type.Optional(
    Type.String({
      description:
        'Path of weightsFolder on the servers, if it differs from the path on this machine.',
      minLength: 1,
    }),
  ),
});
type VllmSettings = Static<typeof VllmSettings>;

/** Servers of vLLM. @throws AgentRlError `CONFIG_INVALID` for a server that does not suit the run */
export const vllmGenerator = generator({
  name: 'vllm',
  description:
    'Generates on vLLM servers (0.32 or newer, --enable-scale-out), which receive and return token ids. For training and evaluations.',
  settings: VllmSettings,
})((settings: VllmSettings, host) =>
  openWithServers(
    settings,
    {
      user: 'generator vllm',
      hint: 'Start the server first: vllm serve MODEL --enable-scale-out.',
      host,
    },
    (servers) => openOn(servers, settings, host),
  ),
);

async function openOn(
  servers: readonly RemoteServer[],
  settings: VllmSettings,
  host: GeneratorHost,
): Promise<RemoteGenerator> {
  refuseAdapters(host);
  const facts = await Promise.all(servers.map((server) => examined(server, settings, host)));
  return generatorOver(
    {
      name: 'vLLM',
      servers,
      protocol: generateProtocol,
      maxContextTokens: facts.map(({ maxContextTokens }) => maxContextTokens),
      samplingProblem: facts.every(({ processed }) => processed) ? () => undefined : rawProblem,
      shipping: host.trains ? shippingOf(servers, settings, host) : undefined,
    },
    settings,
    host,
  );
}

async function examined(
  server: RemoteServer,
  { model: wanted, deadlineS }: VllmSettings,
  host: GeneratorHost,
) {
  const { signal, vocabSize } = host;
  const { id: model, maxContextTokens = 0 } = await servedModel(server, wanted, signal);
  const request = { server, model, deadlineS, signal };
  await requireVocabulary(request, vocabSize);
  await requireTemplate(server, rendersOf(model), host);
  const processed = await givesProcessed(request, vocabSize);
  const out = await weightsOut(request);
  requireWay(server, out, host);
  Object.assign(server, { model, weights: out.weights });
  return { processed, maxContextTokens };
}

/** @throws AgentRlError `CONFIG_INVALID` */
function refuseAdapters({ trains, adapters: [first] }: GeneratorHost): void {
  if (!trains || first === undefined) return;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `generator vllm: the run trains a model that already has adapters (model.adapters: ${first}), but servers can only receive a whole model or one new adapter (model.lora). Merge the adapters into a model with agent-rl model merge-lora, then serve and train that model.`,
  );
}

/** @throws AgentRlError `CONFIG_INVALID` */
function requireWay(
  { url }: RemoteServer,
  { takesModels, takesAdapters }: { takesModels: boolean; takesAdapters: boolean },
  { trains, newAdapter }: GeneratorHost,
): void {
  if (!trains || (newAdapter ? takesAdapters : takesModels)) return;
  throw unsuited(
    url,
    newAdapter
      ? 'does not accept adapters, but the run trains one. Start it with VLLM_ALLOW_RUNTIME_LORA_UPDATING=1 and --enable-lora --max-loras 2 --max-lora-rank R.'
      : 'does not accept new weights. To train with it, start it with VLLM_SERVER_DEV_MODE=1, on a private network: any client that reaches it can change the model.',
  );
}

const shippingOf = (
  servers: readonly RemoteServer[],
  {
    weightsFolder: folder = tmpdir(),
    weightsFolderOnServers: folderOnServer = folder,
    deadlineS,
    tolerance,
  }: VllmSettings,
  { newAdapter, vocabSize, warn }: GeneratorHost,
): WeightShipping => {
  const kind = newAdapter ? 'adapter' : 'model';
  const route = new VllmWeights({ folder, folderOnServer, deadlineS, kind });
  const check = new ScoreCheck({ vocabSize, tolerance });
  return new WeightShipping({ route, check, servers, warn });
};

const rawProblem = (sampling: Sampling): string | undefined =>
  notPlainProblem(sampling, {
    gives:
      'log-probabilities of the unmodified model instead of the distribution that it samples from',
    advice: 'Start vLLM with --logprobs-mode processed_logprobs',
  });
