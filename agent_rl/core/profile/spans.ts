import {
  BroadcastChannel,
  getEnvironmentData,
  setEnvironmentData,
  threadId,
} from 'node:worker_threads';

/** A timed piece of work on a thread. */
export interface Span {
  /** Its group in the profile: a thread, or work of one kind. */
  track: string;
  /** Spans of a group lie within one another or follow each other, and are shown in one row. */
  group?: string;
  name: string;
  /** Milliseconds since 1970, to the microsecond. */
  from: number;
  to: number;
}

/** Name of the channel that spans are sent over, in lists. */
export const spanChannel = 'agent_rl:spans';

const setting = 'agent_rl:records spans';

/** Whether spans are recorded, in this thread and those that it starts from now on. */
export const recordSpans = (on: boolean): void => setEnvironmentData(setting, on);

/** Of the thread that asks. */
export const threadTrack = (): string => `engine thread ${threadId}`;

const sendAfterMs = 20;
const sendFrom = 512;
let waiting: Span[] = [];
let channel: BroadcastChannel | undefined;

const now = (): number => performance.timeOrigin + performance.now();

/** Runs an action, and records how long it took where spans are recorded. */
export async function spanned<Result>(
  span: Pick<Span, 'track' | 'group' | 'name'>,
  action: () => Promise<Result>,
): Promise<Result> {
  if (getEnvironmentData(setting) !== true) return action();
  const from = now();
  try {
    return await action();
  } finally {
    recordSpan({ ...span, from, to: now() });
  }
}

/** Sends a finished span to the writer of the profile; its times come from `performance`, since 1970. */
export function recordSpan(span: Span): void {
  if (waiting.length === 0) setTimeout(send, sendAfterMs).unref();
  waiting.push(span);
  if (waiting.length >= sendFrom) send();
}

function send(): void {
  if (waiting.length === 0) return;
  channel ??= new BroadcastChannel(spanChannel);
  channel.unref();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  channel.postMessage(waiting);
  waiting = [];
}
