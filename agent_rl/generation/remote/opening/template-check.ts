import { isRecord } from '../../../core/is-record.ts';
import type { GeneratorHost } from '../../../core/plugins/model/generator.ts';
import { showValue } from '../../../core/show-value.ts';
import type { HttpAnswer } from '../../../http/http-client.ts';
import { openLanguageModelFolder } from '../../../../model/text/language-model.ts';
import type { RemoteServer } from '../remote-server.ts';
import { helloS, unsuited } from '../remote-settings.ts';

const said = [
  { role: 'system', content: 'You add numbers.' },
  { role: 'user', content: 'What is 2 + 40?' },
] as const;

type Ask = (path: string, body: object) => Promise<HttpAnswer>;

/** How a kind of server writes messages as tokens, ready for an answer; a text says what it answers where it does not. */
export type Writes = (messages: typeof said, ask: Ask) => Promise<readonly unknown[] | string>;

/** The tokens that an answer has under a name. */
export const tokensIn = ({ status, json }: HttpAnswer, path: string, name: string) => {
  const tokens: unknown = status === 200 && isRecord(json) ? json[name] : undefined;
  return Array.isArray(tokens) ? (tokens as unknown[]) : `${path} answers ${status}`;
};

/**
 * Compares how a server and the run write a short conversation as tokens. The run sends tokens and not messages; a difference says
 * that the server has another model's tokenizer or template.
 *
 * @throws AgentRlError `CONFIG_INVALID` that names the first token that differs
 */
export async function requireTemplate(
  server: RemoteServer,
  writes: Writes,
  { textFolder, warn, signal }: Pick<GeneratorHost, 'textFolder' | 'warn' | 'signal'>,
): Promise<void> {
  const theirs = await writes(said, (path, body) =>
    server.send({ method: 'POST', path, body, deadlineS: helloS }, signal),
  );
  if (typeof theirs === 'string') {
    warn(
      `${server.url} does not say how it writes conversations (${theirs}): tokenizer and chat template are not compared.`,
    );
    return;
  }
  const text = await openLanguageModelFolder(textFolder);
  const pieces = text.encodePieces(text.template.promptPieces(said, [], {}));
  const ours = pieces.flatMap(({ tokens }) => tokens);
  const at = ours.findIndex((token, place) => token !== theirs[place]);
  if (at < 0 && ours.length === theirs.length) return;
  const place = at < 0 ? ours.length : at;
  throw unsuited(
    server.url,
    `has another tokenizer or chat template than the run's model in ${textFolder}: token ${place} of a conversation is ${shown(theirs[place])} there and ${shown(ours[place])} here (${theirs.length} and ${ours.length} tokens). Serve the run's model, with --chat-template of its folder if need be.`,
  );
}

const shown = (token: unknown): string => (token === undefined ? 'absent' : showValue(token));
