/** Control characters but for the line feed and the tab; the last ones before the visible letters of Latin-1 too. */
// eslint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Text for a terminal: what could move its cursor, set its colours or its title is shown as `\x1b` instead. */
export const visibleControls = (text: string): string =>
  text.replaceAll(
    controls,
    (control) => `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
