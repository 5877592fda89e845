import { visibleControls } from '../visible-controls.ts';

/** Longest line of a console, in UTF-16 code units: some 20 lines of a terminal. */
const longestLine = 2000;

/**
 * Text of which any part may be a model's, for a console: nothing in it acts on the terminal, and a line that is too long
 * is cut.
 *
 * @param whole where nothing is cut, `run.log`; named in the text
 */
export function consoleText(text: string, whole?: string): string {
  const where = whole === undefined ? '' : `, all in ${whole}`;
  const cut = (line: string): string => {
    if (line.length <= longestLine) return line;
    // Not between the halves of a character.
    const shown = line.slice(0, longestLine).replace(/[\uD800-\uDBFF]$/, '');
    return `${shown}… (${line.length - shown.length} more characters${where})`;
  };
  return visibleControls(text.split('\n').map(cut).join('\n'));
}

/** What sets colours and weight: the only sequences that leave the cursor where it is. */
// eslint-disable-next-line no-control-regex
const styles = /(\u001B\[[\d;:]*m)/;

/** Text that anything in the process writes while a panel is up: styles stay, whatever could move the cursor is shown. */
export const besidePanel = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .split(styles)
    .map((part, index) => (index % 2 === 1 ? part : visibleControls(part)))
    .join('');
