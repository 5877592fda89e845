import { passedOn } from '../passed-on.ts';
import { type Exchange, kept } from './exchanges.ts';
import {
  type Answered,
  type Asked,
  type LoopbackService,
  loopbackService,
} from '../loopback-service.ts';

/** What is done to a request: it never arrives, or its answer does not, or half of it. */
export type Fault = 'lost' | 'unanswered' | 'torn' | undefined;

export interface RecordingProxy extends LoopbackService {
  exchanges: Exchange[];
  /** Asked of each request, in the order in which they come. */
  fault: (asked: Asked) => Fault;
}

/** A server in between, which breaks connections and keeps what was said; not the heartbeat, which comes by the clock. */
export async function recordingProxy(target: string): Promise<RecordingProxy> {
  const exchanges: Exchange[] = [];
  const service = await loopbackService(async (asked) => {
    const fault = asked.path.endsWith('session_heartbeat') ? undefined : proxy.fault(asked);
    const answered = fault === 'lost' ? undefined : await passedOn(target, asked);
    const isCut = fault !== undefined || answered === undefined;
    if (!asked.path.endsWith('session_heartbeat'))
      exchanges.push({
        method: asked.method,
        path: asked.path,
        ...kept(asked.bytes, asked.headers['content-type']),
        answer: isCut ? 'cut' : recorded(answered),
      });
    if (answered === undefined || fault === 'unanswered') return 'cut';
    return fault === 'torn' ? { half: answered } : answered;
  });
  const proxy: RecordingProxy = { ...service, exchanges, fault: () => undefined };
  return proxy;
}

const recorded = ({ status, type = '', location, body }: Answered) => ({
  status,
  type,
  ...(location !== undefined && { location }),
  ...kept(body, type),
});
