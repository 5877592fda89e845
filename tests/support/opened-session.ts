import { sampledTokens } from '#agent_rl/core/rollout.ts';
import { sessionRecord } from '#agent_rl/gateway/turns/session-record.ts';
import type { SessionRules } from '#agent_rl/gateway/turns/session-rules.ts';
import { askBy, doorTo } from './agent-client.ts';
import { type Script, scriptedSession } from './scripted-session.ts';
import { shownSequences } from './shown-sequences.ts';

/** Says which of its turns this is. */
export const counting = (): Script => {
  let count = 0;
  return () => `t</think>answer ${(count += 1)}`;
};

/** A session, the agent's way to it, and what becomes of it. */
export async function openedSession(script: Script, changed: Partial<SessionRules> = {}) {
  const scripted = await scriptedSession(script, changed);
  const { session, text } = scripted;
  const fetch = doorTo(session);
  return {
    ...scripted,
    fetch,
    ask: askBy(fetch),
    ended: async (answer?: unknown) => {
      await session.end();
      const record = sessionRecord(session, answer);
      return {
        ...record,
        ids: record.sequences.map(({ tokens }) => tokens),
        shown: shownSequences(record.sequences, text),
        /** What was ever sampled is in one place. */
        accounted: sampledTokens(record) + record.undelivered,
      };
    },
  };
}

/** A model that waits with each turn until it is let go on, or is aborted. */
export function held(script: Script) {
  const waiting: (() => void)[] = [];
  return {
    waiting,
    script: async (...given: Parameters<Script>) => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return script(...given);
    },
  };
}
