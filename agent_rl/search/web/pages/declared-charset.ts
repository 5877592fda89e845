/** Bytes of a page that are searched for its encoding. */
const searched = 1024;

const space = String.raw`\t\n\f\r `;
const attribute = new RegExp(
  `[${space}/]*(?<name>[^${space}/>][^${space}/>=]*)(?:[${space}]*=[${space}]*(?:"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<bare>[^${space}>"'][^${space}>]*)?))?`,
  'y',
);
const inContent = new RegExp(
  `charset[${space}]*=[${space}]*(?:"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<bare>[^${space};"'][^${space};]*))`,
  'i',
);
const inXml =
  /^<\?xml[^>]*?encoding[\0-\u0020]*=[\0-\u0020]*(?:"(?<double>[^\0-\u0020"]*)"|'(?<single>[^\0-\u0020']*)')/;

type Groups = Readonly<Record<string, string | undefined>> | undefined;

const valueOf = (groups: Groups): string | undefined =>
  groups?.['double'] ?? groups?.['single'] ?? groups?.['bare'];

/**
 * The encoding that a page names in its first bytes, as the HTML standard finds it (13.2.3.2): in a `<meta>` that stands
 * neither in a comment nor in an attribute, or else in an XML declaration. Bytes that can be read so are not UTF-16,
 * whatever they say.
 *
 * @param isEncoding whether a label names an encoding; one that does not is passed over
 */
export function declaredCharset(
  bytes: Buffer,
  isEncoding: (label: string) => boolean,
): string | undefined {
  const text = bytes.subarray(0, searched).toString('latin1');
  if (text.startsWith('<\0?\0x\0')) return 'utf-16le';
  if (text.startsWith('\0<\0?\0x')) return 'utf-16be';
  const labels = [...metaCharsets(text), valueOf(inXml.exec(text)?.groups) ?? ''];
  const label = labels.map((one) => one.trim().toLowerCase()).find(isEncoding);
  if (label === 'x-user-defined') return 'windows-1252';
  return label?.startsWith('utf-16') || utf16Labels.has(label ?? '') ? 'utf-8' : label;
}

/** Other names of UTF-16 (Encoding standard). */
const utf16Labels: ReadonlySet<string> = new Set([
  'csunicode',
  'iso-10646-ucs-2',
  'ucs-2',
  'unicode',
  'unicodefeff',
  'unicodefffe',
]);

/**
 * Looks through the tags of a page.
 *
 * @yields The label that each `<meta>` gives.
 */
function* metaCharsets(text: string): Generator<string> {
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
    const rest = text.slice(at, at + 6);
    if (rest.startsWith('<!--')) at = endOf(text, '-->', at + 2);
    else if (/^<\/?[a-z]/i.test(rest)) {
      const isMeta = /^<meta[\t\n\f\r /]/i.test(rest);
      const { attributes, end } = attributesAt(text, isMeta ? at + 5 : nameEnd(text, at));
      at = end;
      const label = isMeta ? charsetIn(attributes) : undefined;
      if (label !== undefined) yield label;
    } else if (/^<[!/?]/.test(rest)) at = endOf(text, '>', at);
    else at += 1;
  }
}

function endOf(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at < 0 ? text.length : at + mark.length;
}

/** Where the name of the tag at an index ends; for the standard a slash is part of it. */
function nameEnd(text: string, start: number): number {
  const length = text.slice(start).search(/[\t\n\f\r >]/);
  return length < 0 ? text.length : start + length;
}

/** The attributes that begin at an index; of two of one name the first. */
function attributesAt(text: string, start: number) {
  const attributes = new Map<string, string>();
  attribute.lastIndex = start;
  let end = start;
  for (let found = attribute.exec(text); found !== null; found = attribute.exec(text)) {
    end = attribute.lastIndex;
    const name = found.groups?.['name']?.toLowerCase() ?? '';
    if (!attributes.has(name)) attributes.set(name, valueOf(found.groups) ?? '');
  }
  return { attributes, end };
}

function charsetIn(attributes: ReadonlyMap<string, string>): string | undefined {
  const charset = attributes.get('charset');
  if (charset !== undefined) return charset;
  const pragma = attributes.get('http-equiv')?.toLowerCase() === 'content-type';
  return pragma ? valueOf(inContent.exec(attributes.get('content') ?? '')?.groups) : undefined;
}
