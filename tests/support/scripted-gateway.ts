import { openGateway } from '#agent_rl/gateway/open-gateway.ts';
import { EpisodeLog } from '#agent_rl/rollout/episode-log.ts';
import type { EpisodeRequest } from '#agent_rl/rollout/episode-parts.ts';
import { request } from './play-episode.ts';
import { type Script, scriptedModel } from './scripted-session.ts';

export const limits = { maxTurnTokens: 512, maxTurns: 100 };

/** A gateway whose model writes what a script says. */
export async function scriptedGateway(script: Script) {
  const scripted = await scriptedModel(script);
  const notes: string[] = [];
  const gateway = await openGateway({
    model: scripted.model,
    limits,
    history: 'sampled',
    unsupported: 'ignore',
    onFailure: (message) => notes.push(message),
  });
  /** A rollout that is under way. */
  const enter = (name: string, given: Partial<EpisodeRequest> = {}) =>
    gateway.enter(
      { ...request, task: { taskId: name, prompt: name, metadata: {} }, ...given },
      new EpisodeLog(name),
      new AbortController().signal,
    );
  return { ...scripted, gateway, enter, notes };
}
