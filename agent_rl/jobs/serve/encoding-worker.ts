/** Program of a thread that encodes long texts. */
import { Tokenizer } from '../../../model/text/tokenizer.ts';
import { serveRpc } from '../../threads/rpc.ts';
import type { How } from './long-texts.ts';

await serveRpc(async (textFolder: string) => {
  const tokenizer = await Tokenizer.fromFolder(textFolder);
  return {
    answer: ([{ text, how }]: [{ text: string; how: How }]) =>
      how === 'template' ? tokenizer.encodeTemplate(text) : tokenizer.encodePlain(text),
  };
});
