import { environments } from '#agent_rl/core/plugins/environment.ts';
import { Value } from '#agent_rl/core/typebox.ts';
import { NemoGymEnv, NemoGymSettings } from '#agent_rl/environments/nemo-gym/nemo-gym-env.ts';
import type { HttpClient } from '#agent_rl/http/http-client.ts';
import { ToolRunner } from '#agent_rl/rollout/tools/tool-runner.ts';
import { worldOfOne } from '#agent_rl/rollout/world.ts';
import { play, type Setting } from './play-episode.ts';

/** A resources server of NeMo Gym, and episodes of a scripted policy there. */
export async function nemoGymEpisodes(url: string) {
  const settings = Value.Default(NemoGymSettings, { url }) as NemoGymSettings;
  const { find, open } = environments.specOf(NemoGymEnv)!;
  const host = { environment: {} };
  const found = await find!(settings, host);
  const shared = (await open!(settings, host)) as HttpClient;
  return {
    tools: found,
    close: () => shared.close(),
    episode: (setting: Pick<Setting, 'script' | 'limits'>, row: object) => {
      const task = { taskId: 'one', prompt: '', metadata: { reset: row } };
      const environment = new NemoGymEnv({ task, settings, shared });
      const tools = new Map(
        found.map(({ name, of }) => {
          const call = (args: never, context: object) =>
            environment.call(args, { ...context, of } as never);
          return [name, { call: call as never }];
        }),
      );
      const toolRunner = new ToolRunner(found);
      return play({ ...setting, parts: { world: worldOfOne(environment), tools, toolRunner } });
    },
  };
}

/** The row of a task whose counter begins at 3 and is to reach 6. */
export const counterRow = {
  responses_create_params: {
    input: [{ role: 'user', content: 'add 1 then add 2 then get the count' }],
  },
  expected_count: 6,
  initial_count: 3,
};
