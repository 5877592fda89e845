import { isRecord } from '../../core/is-record.ts';
import type { GeneratorHost } from '../../core/plugins/model/generator.ts';
import { openLanguageModelFolder } from '../../../model/text/language-model.ts';
import type { RemoteServer } from './remote-server.ts';
import { helloS, unsuited } from './remote-settings.ts';

const said = [
  { role: 'system', content: 'You add numbers.' },
  { role: 'user', content: 'What is 2 + 40?' },
] as const;

/**
 * Compares how a server and the run write a short conversation as tokens. The run sends tokens and not messages; a difference says
 * that the server has another model's tokenizer or template.
 *
 * @throws AgentRlError `CONFIG_INVALID` that names the first token that differs
 */
export async function requireTemplate(
  server: RemoteServer,
  model: string,
  { textFolder, warn, signal }: Pick<GeneratorHost, 'textFolder' | 'warn' | 'signal'>,
): Promise<void> {
  const path = '/v1/chat/completions/render';
  const request = {
    method: 'POST',
    path,
    body: { model, messages: said },
    deadlineS: helloS,
  } as const;
  const { status, json } = await server.send(request, signal);
  const theirs: unknown = isRecord(json) ? json['token_ids'] : undefined;
  if (status !== 200 || !Array.isArray(theirs)) {
    warn(
      `${server.url} does not say how it writes conversations (${path} answers ${status}): tokenizer and chat template are not compared.`,
    );
    return;
  }
  const text = await openLanguageModelFolder(textFolder);
  const ours = text.template.promptPieces(said, [], {}).flatMap((piece) => text.encodePiece(piece));
  const at = ours.findIndex((token, place) => token !== theirs[place]);
  if (at < 0 && ours.length === theirs.length) return;
  const place = at < 0 ? ours.length : at;
  throw unsuited(
    server.url,
    `has another tokenizer or chat template than the run's model in ${textFolder}: token ${place} of a conversation is ${String(theirs[place] ?? 'absent')} there and ${ours[place] ?? 'absent'} here (${theirs.length} and ${ours.length} tokens). Serve the run's model, with --chat-template of its folder if need be.`,
  );
}
