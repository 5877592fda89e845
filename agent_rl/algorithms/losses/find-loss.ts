import { type LossFunction, losses, type LossPluginSpec } from '../../core/algorithm/loss.ts';
import { AgentRlError, messageOf } from '../../core/errors.ts';
import type { PolicyLossSpec } from '../../core/services/learner.ts';
import { builtinLosses } from './index.ts';

/** A loss and what it asks for. */
export interface FoundLoss {
  loss: LossFunction;
  spec: LossPluginSpec;
}

function among(exported: readonly unknown[], name: string): FoundLoss | undefined {
  for (const value of exported) {
    const spec = losses.specOf(value);
    if (spec?.name === name) return { loss: value as LossFunction, spec };
  }
  return undefined;
}

/**
 * The function that a spec names: a built-in one, or what its module exports.
 *
 * @throws AgentRlError `PLUGIN_LOAD_FAILED`
 */
export async function findLoss({
  type,
  module,
}: Pick<PolicyLossSpec, 'type' | 'module'>): Promise<FoundLoss> {
  const found = among(module === undefined ? builtinLosses : await exportsOf(module), type);
  if (found !== undefined) return found;
  const where = module ?? 'this package';
  throw new AgentRlError(
    'PLUGIN_LOAD_FAILED',
    `${where} exports no loss named "${type}". In the spec of the loss, set module to import.meta.url of the file that exports the function.`,
  );
}

async function exportsOf(module: string): Promise<readonly unknown[]> {
  try {
    return Object.values((await import(module)) as Record<string, unknown>);
  } catch (cause) {
    throw new AgentRlError(
      'PLUGIN_LOAD_FAILED',
      `The loss in ${module} could not be imported by the engine's thread: ${messageOf(cause)}.`,
      { cause },
    );
  }
}
