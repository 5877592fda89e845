import { builtinAdvantages } from '../../algorithms/advantages/index.ts';
import { builtinCorrections } from '../../algorithms/corrections/index.ts';
import { builtinSelections } from '../../algorithms/selections/index.ts';
import { builtinLosses } from '../../algorithms/losses/index.ts';
import { builtinGenerators, builtinLearners } from '../../engine-thread/engine-parts.ts';
import { tinkerLearner } from '../../learner/tinker/open-tinker-learner.ts';
import { tinkerGenerator } from '../../generation/tinker/tinker-generator.ts';
import { servedGenerator } from '../../generation/served/open-served.ts';
import { replayGenerator } from '../../runs/replay/open-replay.ts';
import { openaiGenerator } from '../../generation/openai/open-openai.ts';
import { vllmGenerator } from '../../generation/vllm/open-vllm.ts';
import { builtInSource } from '../../core/plugins/plugin.ts';
import { builtinEnvironments } from '../../environments/index.ts';
import { builtinPolicies, builtinToolCallFormats } from '../../policies/index.ts';
import { builtInJudges } from '../../rewards/index.ts';
import { builtinTools } from '../../tools/index.ts';
import { builtinTrackers } from '../../trackers/index.ts';
import { ArithmeticTasks } from '../../../dataset/arithmetic_tasks/arithmetic-tasks.ts';
import { ToolboxTasks } from '../../../dataset/toolbox_tasks/toolbox-tasks.ts';
import { WorkspaceTasks } from '../../../dataset/workspace_tasks/workspace-tasks.ts';
import type { Plugins } from './kinds.ts';
import { registriesOf } from './registries.ts';

let shipped: Plugins | undefined;

/** Every plugin that ships with the framework, checked once. The only place that names concrete plugins. */
export const builtinPlugins = (): Plugins => (shipped ??= registriesOf(builtIn, builtInSource));

const builtIn: readonly unknown[] = [
  ...builtinTools,
  ...builtinEnvironments,
  ...builtinPolicies,
  ...builtinToolCallFormats,
  ...builtInJudges,
  ...builtinGenerators,
  servedGenerator,
  vllmGenerator,
  openaiGenerator,
  tinkerGenerator,
  replayGenerator,
  ...builtinLearners,
  tinkerLearner,
  ...builtinAdvantages,
  ...builtinLosses,
  ...builtinCorrections,
  ...builtinSelections,
  ...builtinTrackers,
  ArithmeticTasks,
  WorkspaceTasks,
  ToolboxTasks,
];
