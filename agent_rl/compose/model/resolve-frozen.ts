import type { Config } from '../../config/index.ts';
import { AgentRlError } from '../../core/errors.ts';
import { modelFolder } from '../../../model/find/model-folder.ts';
import { textFingerprint } from '../../../model/text/text-fingerprint.ts';
import { type ModelResolvers, type ResolvedModel, resolveModel } from './resolve-model.ts';

/** The frozen models of a run. Settings that name the same folder share a model. */
export interface FrozenModels {
  /** The models that play agents, by agent. */
  agents: ReadonlyMap<string, ResolvedModel>;
  /** The reference of the KL term; absent if it is the starting weights. */
  reference?: ResolvedModel;
}

export const noFrozen: FrozenModels = { agents: new Map() };

export interface FrozenRequest {
  /** The run's own model. */
  model: Pick<ResolvedModel, 'textFolder' | 'description'>;
  /** Whether the run trains: only then it has a KL term. */
  trains: boolean;
  resolvers?: ModelResolvers | undefined;
}

/**
 * Finds the models that `agents[].model` and `algorithm.kl.reference` name.
 *
 * @throws AgentRlError that begins with the setting: `MODEL_INVALID` or `TOKENIZER_INVALID` for what is not a model,
 * `CONFIG_INVALID` for one with another tokenizer than the run's
 */
export async function resolveFrozen(
  config: Config,
  { model: own, trains, resolvers }: FrozenRequest,
): Promise<FrozenModels> {
  const found = new Map<string, ResolvedModel>();
  const resolved = (setting: string, path: string): Promise<ResolvedModel> =>
    withSetting(setting, async () => {
      const folder = modelFolder({ model: { path } }, 'folder');
      const one = found.get(folder) ?? (await asItIs(config, folder, resolvers));
      found.set(folder, one);
      await requireSameTokens(one, own);
      return one;
    });
  const agents = new Map<string, ResolvedModel>();
  for (const [index, { name, model }] of config.agents.entries())
    if (model !== undefined) agents.set(name, await resolved(agentSetting(index), model));
  const { reference } = config.algorithm.kl;
  if (reference === undefined || !trains) return { agents };
  return { agents, reference: await resolved(referenceSetting, reference) };
}

const agentSetting = (index: number): string => `agents.${index}.model`;
const referenceSetting = 'algorithm.kl.reference';

/** The frozen models by the setting that names them, as in `inputs.json` and messages. */
export const frozenBySetting = ({ agents, reference }: FrozenModels): Map<string, ResolvedModel> =>
  new Map([
    ...[...agents].map(([name, model]) => [`agents.${name}.model`, model] as const),
    ...(reference === undefined ? [] : [[referenceSetting, reference] as const]),
  ]);

/** Without the adapters and the quantisation of the trained model. */
const asItIs = (
  config: Config,
  folder: string,
  resolvers: ModelResolvers | undefined,
): Promise<ResolvedModel> => {
  const { lora: _lora, ...model } = config.model;
  const plain: Config = { ...config, model: { ...model, adapters: [], quantize: 'none' } };
  return resolveModel(plain, folder, { trains: false, ...(resolvers && { resolvers }) });
};

/** @throws AgentRlError `CONFIG_INVALID` */
async function requireSameTokens(
  { folder, textFolder, description }: ResolvedModel,
  own: FrozenRequest['model'],
): Promise<void> {
  const [theirs, ours] = await Promise.all([textFolder, own.textFolder].map(textFingerprint));
  const { vocabSize } = description;
  if (theirs === ours && vocabSize === own.description.vocabSize) return;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `${folder} and the run's model (${own.textFolder}) have different tokenizers (${vocabSize} and ${own.description.vocabSize} tokens). Use a model with the same tokenizer.json, such as a checkpoint of a run that started from it.`,
  );
}

/** Errors begin with the setting that they are about. */
export async function withSetting<Value>(
  setting: string,
  work: () => Promise<Value>,
): Promise<Value> {
  try {
    return await work();
  } catch (cause) {
    if (!AgentRlError.is(cause)) throw cause;
    throw new AgentRlError(cause.code, `${setting}: ${cause.message}`, { cause });
  }
}
