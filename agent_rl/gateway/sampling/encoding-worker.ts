/** Program of a thread that encodes long texts. */
import { Tokenizer } from '../../../model/text/tokenizer.ts';
import { serveRpc } from '../../threads/rpc.ts';

await serveRpc(async (textFolder: string) => {
  const tokenizer = await Tokenizer.fromFolder(textFolder);
  return { answer: ([text]: [string]) => tokenizer.encodePlain(text) };
});
