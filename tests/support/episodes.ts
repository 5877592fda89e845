import type { ExecutedCall, Turn } from '#agent_rl/core/plugins/environment.ts';
import { type MalformedCall, type Message, user } from '#agent_rl/core/message.ts';
import type { EpisodeView } from '#agent_rl/core/plugins/reward.ts';
import type { SandboxStatus } from '#agent_rl/core/services/sandbox.ts';
import type { SearchHit } from '#agent_rl/core/services/search.ts';

/** What a test says of one turn: thoughts, words, and calls by tool with what they found. */
export interface SaidTurn {
  said?: string;
  thought?: string;
  calls?: readonly SaidCall[];
  /** Calls that cannot be read. */
  malformed?: number;
}

export interface SaidCall {
  tool: string;
  status?: ExecutedCall['status'];
  content?: string;
  /** Ids of the documents of the hits, best first. */
  found?: readonly string[];
  /** How the program of the call ended. */
  ended?: SandboxStatus;
}

const hit = (documentId: string): SearchHit => ({ documentId, title: '', text: '', score: 0 });

const executed = (
  { tool, status = 'ok', content = '', found, ended }: SaidCall,
  id: string,
): ExecutedCall => ({
  call: { id, name: tool, arguments: {} },
  result: {
    content,
    ...(found && { data: found.map(hit) }),
    ...(ended && { data: { status: ended } }),
  },
  status,
  wallMs: 0,
});

const unread = (count: number): MalformedCall[] =>
  Array.from({ length: count }, () => ({ id: '', text: '', problem: '' }));

/** An episode of a task that begins with a question. */
export function episodeOf(
  task: Readonly<Record<string, unknown>>,
  said: readonly SaidTurn[],
): EpisodeView {
  const turns: Turn[] = said.map((turn, index) => {
    const calls = (turn.calls ?? []).map((call, place) => executed(call, `call_${index}_${place}`));
    return {
      index,
      calls,
      message: {
        role: 'assistant',
        content: turn.said ?? '',
        ...(turn.thought !== undefined && { reasoning: turn.thought }),
        ...(calls.length > 0 && { toolCalls: calls.map(({ call }) => call) }),
        ...(turn.malformed && { malformedCalls: unread(turn.malformed) }),
      },
    };
  });
  const messages: Message[] = turns.flatMap(({ message, calls }) => [
    message,
    ...calls.map(({ call: { id: callId, name }, result: { content } }) => {
      return { role: 'tool', content, name, callId } as const;
    }),
  ]);
  return {
    task: { taskId: 't', prompt: 'Why?', metadata: {}, ...task },
    agent: 'policy',
    messages: [user('Why?'), ...messages],
    turns,
    verdict: { outcome: 'completed', reward: 0, components: {}, success: false },
  };
}
