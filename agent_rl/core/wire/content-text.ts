import { isRecord } from '../is-record.ts';

/** What a model reads of a result, and what it does not. */
export interface ReadContent {
  text: string;
  /** Parts that are only named, such as images, by their type. */
  unread: Readonly<Record<string, number>>;
}

/** The parts of a result of MCP as text. Structured content is given once: most servers also write it as text. */
export function contentText(content: unknown, structured: unknown): ReadContent {
  const parts = Array.isArray(content) ? content.map(partText) : [];
  const unread: Record<string, number> = {};
  for (const { kind } of parts) if (kind !== undefined) unread[kind] = (unread[kind] ?? 0) + 1;
  const isSaid = parts.some(({ kind }) => kind === undefined);
  if (structured !== undefined && !isSaid) parts.push({ text: JSON.stringify(structured) });
  const text = parts.map((part) => part.text).join('\n');
  return { text: text === '' ? '[no content]' : text, unread };
}

interface PartText {
  text: string;
  /** Of a part that is only named. */
  kind?: string;
}

function partText(part: unknown): PartText {
  if (!isRecord(part)) return { text: '[content that is not an object]', kind: 'unknown' };
  const { type, text, data, mimeType, uri, name, description, resource } = part;
  switch (type) {
    case 'text':
      return { text: String(text) };
    case 'image':
    case 'audio':
      return { text: `[${type}: ${String(mimeType)}, ${bytesIn(data)} bytes]`, kind: type };
    case 'resource_link': {
      const about = [name, description].filter((one) => typeof one === 'string').join(': ');
      return { text: `[link to ${String(uri)}${about === '' ? '' : ` (${about})`}]` };
    }
    case 'resource': {
      const { uri: at, mimeType: kind, text: said, blob } = isRecord(resource) ? resource : {};
      if (typeof said === 'string') return { text: said };
      return {
        text: `[resource ${String(at)}: ${String(kind)}, ${bytesIn(blob)} bytes]`,
        kind: 'resource',
      };
    }
    default:
      return { text: `[content of the type ${JSON.stringify(type)}]`, kind: 'unknown' };
  }
}

/** Of base64. */
const bytesIn = (data: unknown): number =>
  typeof data === 'string' ? Buffer.byteLength(data, 'base64') : 0;
