import type { EpisodeView } from '../../core/plugins/reward.ts';

/** An episode as if the calls of one tool were all the calls in it. */
export function viewOfTool(episode: EpisodeView, tool: string): EpisodeView {
  return {
    ...episode,
    messages: episode.messages.filter(
      (message) => message.role !== 'tool' || message.name === tool,
    ),
    turns: episode.turns.map((turn) => ({
      ...turn,
      calls: turn.calls.filter(({ call }) => call.name === tool),
    })),
  };
}
