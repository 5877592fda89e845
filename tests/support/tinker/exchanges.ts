interface Body {
  json?: unknown;
  base64?: string;
}

/** A request to a Tinker service and its answer, as they were captured. Bytes that are no JSON are base64. */
export interface Exchange extends Body {
  method: string;
  /** After the address. */
  path: string;
  /** `cut` is a connection that broke before the answer was whole. */
  answer: RecordedAnswer | 'cut';
}

interface RecordedAnswer extends Body {
  status: number;
  type: string;
  location?: string;
}

/** A learner's calls and answers, by the name of what was tried. */
export interface Recording {
  /** The server's name and version. */
  server: string;
  scenarios: Record<string, { exchanges: Exchange[]; logProbs: number[][] }>;
}

/** A body as an exchange keeps it. */
export function kept(bytes: Buffer, type = ''): Body {
  if (bytes.length === 0) return {};
  if (type.startsWith('application/json')) return { json: JSON.parse(bytes.toString()) as unknown };
  return { base64: bytes.toString('base64') };
}

export const bytesOf = ({ json, base64 }: Body): Buffer =>
  base64 === undefined
    ? Buffer.from(json === undefined ? '' : JSON.stringify(json))
    : Buffer.from(base64, 'base64');
