import { stringify } from 'yaml';

import { type Config, ConfigSchema } from '../config-schema.ts';

/** The config as YAML that loads to the same config: everything filled in, nothing to extend. */
export function resolvedYaml(config: Config): string {
  const order = Object.keys(ConfigSchema.properties);
  const blocks = Object.entries(config).toSorted(([a], [b]) => order.indexOf(a) - order.indexOf(b));
  return stringify(Object.fromEntries(blocks), { lineWidth: 100 });
}
