import type { ToolCallFormat } from '../../core/plugins/tool-call-format.ts';
import type { Config } from '../../config/index.ts';
import { AgentRlError } from '../../core/errors.ts';
import { textFingerprint } from '../../../model/text/text-fingerprint.ts';
import type { ChosenPlugins } from '../plugins/choose-plugins.ts';
import type { ResolvedModel } from './resolve-model.ts';

/** A named policy of a run, found and checked. */
export interface ResolvedPolicy {
  /** The run's, with this policy at the top level. */
  config: Config;
  /** The run's plugins, with its own policy, format, generator and learner. */
  chosen: ChosenPlugins;
  model: ResolvedModel;
  format: ToolCallFormat | undefined;
  /** Whether it has a learner; otherwise its weights never change. */
  learns: boolean;
}

/**
 * @param sameSize whether its vocabulary must be as large: models of a family pad it differently, which does not matter to one
 * that only scores
 * @throws AgentRlError `CONFIG_INVALID` for a model with another tokenizer than the run's model
 */
export async function requireSameTokens(
  { folder, textFolder, description }: ResolvedModel,
  own: Pick<ResolvedModel, 'textFolder' | 'description'>,
  sameSize: boolean,
): Promise<void> {
  const [theirs, ours] = await Promise.all([textFolder, own.textFolder].map(textFingerprint));
  const { vocabSize } = description;
  const fits = sameSize ? vocabSize === own.description.vocabSize : true;
  if (theirs === ours && fits) return;
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
