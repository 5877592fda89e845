import type { EpisodeCall, EpisodeMessage, EpisodeWhole } from '../../runs/view/api.ts';
import { countText } from '../../telemetry/figures.ts';
import { PlainText } from '../text/plain-text.tsx';
import { escapeUnseen } from '../text/visible-text.ts';
import { CallView } from './call-view.tsx';
import { sourceClass } from './token-modes.ts';

/** An episode as a conversation: thoughts, calls, their results with the time they took. */
export function Conversation({ whole }: { whole: EpisodeWhole }) {
  const { messages, calls } = whole;
  const byId = new Map(calls.map((call) => [call.id, call]));
  const called = new Set(messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id)));
  const sampled = whole.tokens.spans.filter(({ source }) => source === 'sampled');
  let turn = 0;
  return (
    <ol class="conversation">
      {messages.map((message, at) => {
        if (message.role === 'assistant') {
          const span = sampled[turn];
          turn += 1;
          return (
            <Turn
              key={at}
              title={`turn ${turn}`}
              about={
                span && `${countText(span.end - span.start, 'token')}, weights ${span.version}`
              }
              message={message}
              calls={byId}
              results={resultsOf(messages)}
            />
          );
        }
        const isShown = message.callId !== undefined && called.has(message.callId);
        return isShown ? null : <Said key={at} message={message} />;
      })}
    </ol>
  );
}

const resultsOf = (messages: readonly EpisodeMessage[]): ReadonlyMap<string, EpisodeMessage> =>
  new Map(
    messages.flatMap((message) =>
      message.callId === undefined ? [] : [[message.callId, message] as const],
    ),
  );

function Said({ message: { role, content, name } }: { message: EpisodeMessage }) {
  return (
    <li class={`message ${sourceClass(role)}`}>
      <h3>{escapeUnseen(name === undefined ? role : `${role} ${name}`)}</h3>
      <PlainText text={content} />
    </li>
  );
}

interface TurnProps {
  title: string;
  about: string | undefined;
  message: EpisodeMessage;
  calls: ReadonlyMap<string, EpisodeCall>;
  results: ReadonlyMap<string, EpisodeMessage>;
}

function Turn({ title, about, message, calls, results }: TurnProps) {
  const { content, reasoning, toolCalls = [], malformedCalls = [] } = message;
  return (
    <li class={`message ${sourceClass('sampled')}`}>
      <h3>
        {title} {about !== undefined && <small>{about}</small>}
      </h3>
      {reasoning !== undefined && reasoning !== '' && (
        <div class="thought">
          <h4>thought</h4>
          <PlainText text={reasoning} />
        </div>
      )}
      {content !== '' && <PlainText text={content} label="said" />}
      {toolCalls.map((call) => (
        <CallView
          key={call.id}
          name={call.name}
          given={call.arguments}
          call={calls.get(call.id)}
          result={results.get(call.id)?.content ?? calls.get(call.id)?.content}
        />
      ))}
      {malformedCalls.map(({ text, problem }, at) => (
        <div key={at} class="call failed">
          <h4>
            a call that cannot be read <span class="status">{escapeUnseen(problem)}</span>
          </h4>
          <PlainText text={text} />
        </div>
      ))}
    </li>
  );
}
