import { visibleControls } from '../../../telemetry/index.ts';

/** Characters that change the direction of what follows: text could read otherwise than it is. */
const directions = /[\u202a-\u202e\u2066-\u2069]/g;

/** Text as a report shows it: what a terminal or a reader would not see is spelt out. */
export const safeText = (text: string): string =>
  visibleControls(text).replaceAll(
    directions,
    (control) => `\\u${control.charCodeAt(0).toString(16)}`,
  );

/** The beginning of a long text, with how much is missing. */
export function cutText(text: string, most: number): string {
  const left = text.length - most;
  return left <= 0
    ? text
    : `${text.slice(0, most)}… [${left.toLocaleString('en')} more characters left out]`;
}
