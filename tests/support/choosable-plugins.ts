import { builtinPlugins } from '#agent_rl/compose/plugins/builtin-plugins.ts';
import { Type } from 'typebox';
import { registriesOf } from '#agent_rl/compose/plugins/registries.ts';
import { environments } from '#agent_rl/core/plugins/environment.ts';
import { policies } from '#agent_rl/core/plugins/policy.ts';
import { rewards } from '#agent_rl/core/plugins/reward.ts';
import { toolCallFormats } from '#agent_rl/core/plugins/tool-call-format.ts';
import { tools } from '#agent_rl/core/plugins/tool.ts';
import { trackers } from '#agent_rl/core/plugins/tracker.ts';
import { builtinGenerators, builtinLearners } from '#agent_rl/engine-thread/engine-parts.ts';
import { builtInRewardManagers } from '#agent_rl/rewards/index.ts';
import { HermesFormat } from '#agent_rl/policies/index.ts';
import { builtinTrackers } from '#agent_rl/trackers/index.ts';

const description = 'For tests.';

/** A class with methods of these names. */
const classWith = (...methods: readonly string[]): object => {
  class Plugin {
    readonly plugin = true;
  }
  for (const name of methods) Object.assign(Plugin.prototype, { [name]: () => undefined });
  return Plugin;
};
const limit = Type.Integer({ default: 10, minimum: 1 });
const limited = { description, settings: Type.Object({ limit }) };

export const Calculator = classWith('call');
tools.mark({
  name: 'calculator',
  parameters: Type.Object({ expression: Type.String() }),
  ...limited,
})(Calculator);

const Arithmetic = classWith('start', 'step', 'finish');
environments.mark({
  name: 'arithmetic',
  description,
  settings: Type.Object({ penalty: Type.Number({ default: -0.1 }) }),
  requires: ['calculator'],
  taskFormat: 'any',
})(Arithmetic);

const Outside = classWith('run', 'isModelError', 'finish');
environments.mark({
  name: 'outside',
  description,
  settings: Type.Object({ command: Type.Optional(Type.String()) }),
  external: true,
  taskFormat: 'any',
  configure: ({ command }) => {
    if (command === undefined) throw new Error('names no agent. Add command.');
  },
})(Outside);

const Parrot = classWith('begin', 'act', 'observe', 'release');
const thinking = Type.Boolean({ default: false });
policies.mark({ name: 'parrot', description, settings: Type.Object({ thinking }) })(Parrot);

export const Shouted = classWith('read', 'print', 'fits');
toolCallFormats.mark({ name: 'shouted', ...limited })(Shouted);

const [Manners, Brevity] = [classWith('score'), classWith('score')];
rewards.mark({ name: 'manners', ...limited, blind: () => true })(Manners);
rewards.mark({ name: 'brevity', ...limited })(Brevity);

const Notes = classWith('track');
trackers.mark({ name: 'notes', ...limited })(Notes);

const own = [
  Calculator,
  Arithmetic,
  Outside,
  Parrot,
  Shouted,
  HermesFormat,
  Brevity,
  Manners,
  Notes,
];

const { advantages, losses, corrections, selections } = builtinPlugins();
const algorithms = [advantages, losses, corrections, selections].flatMap((registry) =>
  registry.entries().map(({ plugin }) => plugin),
);
/** One plugin of each kind, and the built-in parts that a run cannot do without. */
export const plugins = registriesOf(
  [
    ...own,
    ...builtInRewardManagers,
    ...builtinGenerators,
    ...builtinLearners,
    ...builtinTrackers,
    ...algorithms,
  ],
  'built in',
);
