import { configInvalid, type LoadedConfig, placeOf } from '../../config/index.ts';
import { choosePlugins } from './choose-plugins.ts';
import type { Plugins } from './registries.ts';

/**
 * Refuses to train a policy that brings a generator of its own, before anything is read or opened.
 *
 * @throws AgentRlError `CONFIG_INVALID`, with the place of `policy.type`
 */
export function requireTrainable(loaded: LoadedConfig, plugins: Plugins): void {
  const { spec } = choosePlugins(loaded, plugins).policy.entry;
  if (spec.openGenerator === undefined) return;
  const text = `policy ${spec.name} brings its own generator, whose weights cannot be trained here. It is for agent-rl eval and chat: train with another policy, such as huggingface.`;
  const { value: location } = placeOf(loaded.places, '/policy/type');
  throw configInvalid([{ location, path: 'policy.type', text }]);
}
