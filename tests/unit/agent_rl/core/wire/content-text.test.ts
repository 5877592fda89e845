import { expect, test } from '@jest/globals';

import { contentText } from '#agent_rl/core/wire/content-text.ts';

const saying = (said: string) => ({ type: 'text', text: said });

test.each([
  ['texts, one below the other', [saying('a'), saying('b')], undefined, 'a\nb', {}],
  ['nothing', [], undefined, '[no content]', {}],
  ['structured content once', [saying('{"a":1}')], { a: 1 }, '{"a":1}', {}],
  ['structured content alone', [], { a: 1 }, '{"a":1}', {}],
  [
    'an image and a sound by their size',
    [
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
    ],
    undefined,
    '[image: image/png, 3 bytes]\n[audio: audio/wav, 4 bytes]',
    { image: 1, audio: 1 },
  ],
  [
    'the text of a resource, and the size of a binary one',
    [
      { type: 'resource', resource: { uri: 'x://a', text: 'said' } },
      {
        type: 'resource',
        resource: { uri: 'x://b', mimeType: 'application/pdf', blob: 'JVBERi0=' },
      },
    ],
    undefined,
    'said\n[resource x://b: application/pdf, 5 bytes]',
    { resource: 1 },
  ],
  [
    'a link with its name',
    [{ type: 'resource_link', uri: 'x://c', name: 'C', description: 'A page' }],
    undefined,
    '[link to x://c (C: A page)]',
    {},
  ],
  [
    'what it does not know',
    [{ type: 'video' }, 7],
    undefined,
    '[content of the type "video"]\n[content that is not an object]',
    { unknown: 2 },
  ],
])('a result of MCP is read as text: %s', (_, content, structured, ...[text, unread]) => {
  expect(contentText(content, structured)).toEqual({ text, unread });
});
