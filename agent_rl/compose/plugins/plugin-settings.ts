import { Type, type TProperties, type TSchema } from '../../core/typebox.ts';
import { AgentRlError, messageOf } from '../../core/errors.ts';
import { isRecord } from '../../core/is-record.ts';
import type { RegistryEntry } from '../../core/plugins/plugin.ts';

/** @throws AgentRlError `PLUGIN_LOAD_FAILED` when the plugin's schema itself is invalid. */
export function checkSettings<Checked>(
  { spec, source, plugin }: RegistryEntry<{ name: string }>,
  check: () => Checked,
): Checked {
  try {
    return check();
  } catch (cause) {
    const name = typeof plugin === 'function' ? ` (${plugin.name})` : '';
    throw new AgentRlError(
      'PLUGIN_LOAD_FAILED',
      `The plugin "${spec.name}"${name} from ${source} cannot be used: its settings are not a usable JSON Schema: ${messageOf(cause)}.`,
      { cause },
    );
  }
}

/** The parts of an object's schema. */
export interface ObjectSchema {
  properties?: TProperties;
  required?: readonly string[];
}

/** One schema for a block that holds a plugin's settings beside the kind's own fields. */
export function besides(own: TProperties, settings: TSchema = Type.Object({})): TSchema {
  const { properties = {}, required = [] }: ObjectSchema = settings;
  return { ...settings, properties: { ...own, ...properties }, required: [...required, 'type'] };
}

/** A list of blocks; in a config with problems it may be anything. */
export const listOf = <Item>(value: readonly Item[]): readonly Item[] =>
  Array.isArray(value) ? value : [];

/** Whether a block names a plugin; otherwise the problem was already reported. */
export const namesPlugin = (block: unknown): block is { type: string } =>
  isRecord(block) && typeof block['type'] === 'string' && block['type'] !== '';
