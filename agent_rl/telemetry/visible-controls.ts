/**
 * Control characters but for the line feed and the tab; the last ones before the visible letters of Latin-1 too. Characters that
 * change the direction of what follows: text could read otherwise than it is.
 */
// eslint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Text for a terminal: what could move its cursor, set its colours or its title is shown as `\x1b` instead. */
export const visibleControls = (text: string): string =>
  text.replaceAll(controls, (control) => {
    const code = control.charCodeAt(0).toString(16);
    return code.length > 2 ? `\\u${code}` : `\\x${code.padStart(2, '0')}`;
  });
