import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

import { unreadable } from '../../tasks/json-lines.ts';
import { canonicalUrl } from '../document-id.ts';
import type { SourceItem } from '../source-record.ts';

/**
 * Addresses, one a line; blank lines and lines that begin with # are none.
 *
 * @yields A record for each address.
 * @throws AgentRlError `DATASET_INVALID` when the file cannot be read.
 */
export async function* readUrlList(file: string): AsyncGenerator<SourceItem> {
  let number = 0;
  try {
    for await (const line of createInterface({
      input: createReadStream(file),
      crlfDelay: Infinity,
    })) {
      number += 1;
      const url = line.trim();
      if (url === '' || url.startsWith('#')) continue;
      const where = `${file}:${number}`;
      yield canonicalUrl(url) === undefined
        ? { dropped: { reason: 'bad-url', where, detail: url } }
        : { record: { where, documents: [{ url, title: '', text: '' }] } };
    }
  } catch (cause) {
    throw unreadable(file, cause, 'Give a text file with one address a line.');
  }
}
