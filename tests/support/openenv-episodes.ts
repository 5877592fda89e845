import type { ToolHost } from '#agent_rl/core/plugins/tool.ts';
import { Value } from '#agent_rl/core/typebox.ts';
import { OpenEnvEnv } from '#agent_rl/environments/openenv/openenv-env.ts';
import { OpenEnvServer } from '#agent_rl/environments/openenv/openenv-server.ts';
import { OpenEnvSettings } from '#agent_rl/environments/openenv/settings.ts';
import { worldOfOne } from '#agent_rl/rollout/world.ts';
import { ToolRunner } from '#agent_rl/rollout/tools/tool-runner.ts';
import { type Double, openEnvDouble, type Says } from './openenv-double.ts';
import { play, type Setting } from './play-episode.ts';

/** A server of OpenEnv, and episodes of a scripted policy there. */
export async function openEnvEpisodes(
  url: string,
  over: object = {},
  host: Partial<ToolHost> = {},
) {
  const settings = Value.Default(OpenEnvSettings, { url, ...over }) as OpenEnvSettings;
  const server = await OpenEnvServer.open(settings, { environment: process.env, ...host });
  const { tools: found } = server.acting;
  return {
    server,
    tools: found,
    close: () => server.close(),
    episode: (
      setting: Pick<Setting, 'script' | 'limits'>,
      reset: object = {},
      opening?: string,
    ) => {
      const task = { taskId: 'one', prompt: '', metadata: { reset, opening } };
      const environment = new OpenEnvEnv({ task, settings, shared: server });
      const tools = new Map(
        found.map(({ name, of }) => [
          name,
          {
            call: (args: never, context: never) =>
              environment.call(args, { ...(context as object), of } as never),
          },
        ]),
      );
      return play({
        ...setting,
        parts: { world: worldOfOne(environment), tools, toolRunner: new ToolRunner(found) },
      });
    },
  };
}

/** Episodes at a double, or at one that says so; all are closed with the list. */
export const openEnvAt =
  (opened: { close(): Promise<unknown> }[]) =>
  async (double: Says | Double, over: object = {}, warn?: (text: string) => void) => {
    const server = typeof double === 'function' ? await openEnvDouble(double) : double;
    if (typeof double === 'function') opened.push(server);
    const episodes = await openEnvEpisodes(server.url, over, warn ? { warn } : {});
    opened.push(episodes);
    return episodes;
  };
