import { createHash } from 'node:crypto';

/** Which of a sandbox's methods is asked. */
type RequestKind = 'run' | 'calls' | 'judge';

/**
 * A text that equal requests share and no others, whoever asks. It has one length however large the request is, since
 * thousands are kept and a request may hold megabytes of input. The request must have been checked: then it holds
 * nothing that JSON would drop or change.
 */
export function requestKey(kind: RequestKind, request: object): string {
  // Equal programs are equal whoever asks; anything called owner further inside is the program's affair.
  const fields = Object.entries(request).filter(([name]) => name !== 'owner');
  return createHash('sha256')
    .update(JSON.stringify([kind, fields]))
    .digest('base64');
}
