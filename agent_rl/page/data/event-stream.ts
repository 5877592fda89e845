/**
 * Reads the data of server-sent events, in order. `EventSource` cannot send the header that the server requires.
 *
 * @yields the data of one event, its lines joined by line feeds
 */
export async function* eventData(
  chunks: AsyncIterable<string>,
): AsyncGenerator<string, void, undefined> {
  let rest = '';
  let data: string[] = [];
  for await (const chunk of chunks) {
    const lines = `${rest}${chunk}`.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield data.join('\n');
        data = [];
      } else if (line.startsWith('data:')) {
        data.push(line.slice(5).replace(/^ /, ''));
      }
    }
  }
}

/**
 * The text of a stream of bytes, chunk by chunk.
 *
 * @yields decoded text
 */
export async function* textOf(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    reader.releaseLock();
  }
}
