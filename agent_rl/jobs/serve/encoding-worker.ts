/** Program of a thread that encodes long texts. */
import { GivenText } from '../../../model/text/given-text.ts';
import { Tokenizer } from '../../../model/text/tokenizer.ts';
import { serveRpc } from '../../threads/rpc.ts';
import type { How } from './long-texts.ts';

await serveRpc(async (textFolder: string) => {
  const tokenizer = await Tokenizer.fromFolder(textFolder);
  const given = new GivenText(tokenizer);
  return {
    answer: ([{ text, how }]: [{ text: string; how: How }]) =>
      how === 'template' ? given.encode(text) : tokenizer.encodePlain(text),
  };
});
