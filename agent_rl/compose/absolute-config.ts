import { resolve } from 'node:path';

import { SandboxBlock } from '../config/blocks/run-block.ts';
import type { Config } from '../config/index.ts';
import type { PluginSpec } from '../core/plugins/plugin.ts';
import { withAbsolutePaths } from './absolute-paths.ts';
import type { ResolvedModel } from './model/resolve-model.ts';
import type { ResolvedPolicy } from './model/resolved-policy.ts';
import type { Chosen, ChosenPlugins } from './plugins/choose-plugins.ts';
import { changeBlocks, kindNames, kinds } from './plugins/kinds.ts';
import { datasetFolder } from './task-sources.ts';

/** What a config's names were found to be. */
interface FoundParts {
  chosen: ChosenPlugins;
  model: ResolvedModel;
  policies: ReadonlyMap<string, ResolvedPolicy>;
}

const absolute = (one: Chosen<PluginSpec> | undefined) =>
  one && { ...one, settings: withAbsolutePaths(one.entry.spec.settings, one.settings) };

/** The plugins with absolute paths in their settings; without rewards where nothing is judged. */
export function withAbsoluteSettings(chosen: ChosenPlugins, judged: boolean): ChosenPlugins {
  const all = Object.entries(chosen).map(([key, ofKind]) => [
    key,
    Array.isArray(ofKind) ? ofKind.map(absolute) : absolute(ofKind as Chosen<PluginSpec>),
  ]);
  const settled = Object.fromEntries(all) as ChosenPlugins;
  return judged ? settled : { ...settled, rewards: [] };
}

/** The config with paths that are valid from any working directory. */
export function withAbsoluteConfig(
  config: Config,
  { chosen, model, policies }: FoundParts,
): Config {
  const { dataset, run } = config;
  const adapters = config.model.adapters.map((folder) => resolve(folder));
  const ofRun: Config = {
    ...config,
    run: { ...run, outputDir: resolve(run.outputDir) },
    sandbox: withAbsolutePaths(SandboxBlock, config.sandbox),
    model: { ...config.model, adapters, path: model.folder },
    policies: withFolders(config.policies, policies),
    datasets: config.datasets.map((set) =>
      set.dir === undefined ? set : { ...set, dir: datasetFolder(set.dir, dataset) },
    ),
  };
  return kindNames.reduce((all, name) => {
    const ofKind = [chosen[kinds[name].chosen]].flat();
    return changeBlocks(all, kinds[name], ({ value }, index) =>
      withAbsolutePaths((ofKind[index]?.entry.spec as PluginSpec | undefined)?.settings, value),
    );
  }, ofRun);
}

const absoluteBlock = <Value>({ entry }: Chosen<PluginSpec>, value: Value): Value =>
  value && withAbsolutePaths(entry.spec.settings, value);

/** The blocks of the named policies, with the folders that were found for them and absolute paths. */
const withFolders = (
  blocks: Config['policies'],
  policies: FoundParts['policies'],
): Config['policies'] =>
  Object.fromEntries(
    Object.entries(blocks).map(([name, block]) => {
      const { chosen, model } = policies.get(name) ?? {};
      if (chosen === undefined || model === undefined) return [name, block];
      const { policy, generator, learner } = chosen;
      return [
        name,
        {
          model: block.model && {
            ...block.model,
            path: model.folder,
            adapters: block.model.adapters.map((folder) => resolve(folder)),
          },
          policy: absoluteBlock(policy, block.policy),
          generator: absoluteBlock(generator, block.generator),
          learner: absoluteBlock(learner, block.learner),
        },
      ];
    }),
  );
