import { useCallback, useEffect, useState } from 'preact/hooks';

import type { RunEvent, RunHead } from '../../runs/view/api.ts';
import { eventData, textOf } from './event-stream.ts';
import { useAnswer, useAnswers, wordsOf } from './use-answer.ts';

/** The state of the connection to the server. */
export type Link = { state: 'connecting' | 'live' | 'export' } | { state: 'lost'; why: string };

export interface Runs {
  /** Undefined before the first answer. */
  runs: readonly RunHead[] | undefined;
  problem: string | undefined;
  link: Link;
}

const againAfterMs = 2000;

/** The list of runs, kept current by events. */
export function useRuns(): Runs {
  const [version, setVersion] = useState(0);
  const { answer, problem } = useAnswer<readonly RunHead[]>('/api/runs', version);
  const [events, setEvents] = useState<ReadonlyMap<string, RunEvent>>(new Map());
  const hear = useCallback((event: RunEvent) => {
    setEvents((before) => {
      const last = before.get(event.run);
      // The list has more than an event does: results, times, problems.
      if (
        last === undefined ||
        last.state !== event.state ||
        last.index.ready !== event.index.ready
      )
        setVersion((was) => was + 1);
      return new Map(before).set(event.run, event);
    });
  }, []);
  const link = useEvents(hear);
  const runs = answer?.map((head) => withEvent(withOwnName(head, answer), events.get(head.id)));
  return { runs, problem, link };
}

/** Uses the ids of runs that share a name. */
const withOwnName = (head: RunHead, all: readonly RunHead[]): RunHead =>
  all.some(({ id, name }) => id !== head.id && name === head.name)
    ? { ...head, name: head.id }
    : head;

const withEvent = (head: RunHead, event: RunEvent | undefined): RunHead =>
  event === undefined
    ? head
    : {
        ...head,
        state: event.state,
        iteration: event.iteration,
        episodes: event.episodes,
        index: event.index,
        updatedAt: event.updatedAt,
      };

function useEvents(hear: (event: RunEvent) => void): Link {
  const answers = useAnswers();
  const [link, setLink] = useState<Link>({ state: answers.live ? 'connecting' : 'export' });
  useEffect(() => {
    if (!answers.live) return undefined;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const follow = async (): Promise<void> => {
      try {
        const stream = await answers.events(stop.signal);
        setLink({ state: 'live' });
        for await (const data of eventData(textOf(stream))) hear(JSON.parse(data) as RunEvent);
        setLink({ state: 'lost', why: 'The server closed the event stream.' });
      } catch (cause) {
        if (stop.signal.aborted) return;
        setLink({ state: 'lost', why: wordsOf(cause) });
      }
      if (!stop.signal.aborted) timer = setTimeout(() => void follow(), againAfterMs);
    };
    void follow();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [answers, hear]);
  return link;
}
