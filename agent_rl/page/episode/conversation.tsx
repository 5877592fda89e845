import type { AssistantMessage, Message, ToolMessage } from '../../core/message.ts';
import type { EpisodeLine, EpisodeTurn, EpisodeWhole } from '../../runs/view/api.ts';
import { countText } from '../../telemetry/figures.ts';
import { PlainText } from '../text/plain-text.tsx';
import { escapeUnseen } from '../text/visible-text.ts';
import { CallView } from './call-view.tsx';
import { sourceClass } from './token-modes.ts';
import { TokenStretch } from './token-stretch.tsx';

interface ConversationProps {
  whole: EpisodeWhole;
  /** The turn chosen in the tree of turns. */
  turn: EpisodeTurn | undefined;
}

/** An episode as a conversation. Only one sequence has recorded messages; for any other, the text of its tokens is shown. */
export function Conversation({ whole, turn }: ConversationProps) {
  const tokens = turn?.isShown === false ? whole.sequences[turn.sequence] : undefined;
  if (turn === undefined || tokens === undefined) return <Messages whole={whole} />;
  return (
    <>
      <p class="note">
        The text of sequence {turn.sequence + 1} up to turn {turn.turn + 1}.
      </p>
      <TokenStretch key={turn.turn} tokens={tokens} from={0} to={turn.end} partsAt={null} />
    </>
  );
}

/** Messages, with tool calls, their results and the time they took. */
function Messages({ whole }: { whole: EpisodeWhole }) {
  const { messages } = whole.record;
  const results = messages.filter((message) => message.role === 'tool');
  const called = new Set(messages.flatMap((one) => callsIn(one).map(({ id }) => id)));
  const turns = whole.turns.filter(({ isShown }) => isShown);
  let turn = 0;
  return (
    <ol class="conversation">
      {messages.map((message, at) => {
        if (message.role === 'assistant') {
          const span = turns[turn];
          turn += 1;
          return (
            <Turn
              key={at}
              title={`turn ${span === undefined ? turn : span.turn + 1}`}
              about={span && `${countText(span.tokens, 'token')}, weights ${span.version}`}
              message={message}
              record={whole.record}
              results={results}
            />
          );
        }
        return message.role === 'tool' && called.has(message.callId) ? null : (
          <Said key={at} message={message} />
        );
      })}
    </ol>
  );
}

const callsIn = (message: Message) =>
  message.role === 'assistant' ? (message.toolCalls ?? []) : [];

function Said({ message }: { message: Message }) {
  const { role, content } = message;
  return (
    <li class={`message ${sourceClass(role)}`}>
      <h3>{escapeUnseen(role === 'tool' ? `${role} ${message.name}` : role)}</h3>
      <PlainText text={content} />
    </li>
  );
}

interface TurnProps {
  title: string;
  about: string | undefined;
  message: AssistantMessage;
  record: EpisodeLine;
  results: readonly ToolMessage[];
}

function Turn({ title, about, message, record, results }: TurnProps) {
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
          record={record}
          id={call.id}
          result={results.find(({ callId }) => callId === call.id)?.content}
        />
      ))}
      {malformedCalls.map(({ text, problem }, at) => (
        <div key={at} class="call failed">
          <h4>
            malformed call <span class="status">{escapeUnseen(problem)}</span>
          </h4>
          <PlainText text={text} />
        </div>
      ))}
    </li>
  );
}
