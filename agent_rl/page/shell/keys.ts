import { useEffect } from 'preact/hooks';

/** What each key does, as the help shows it. */
export const keyHelp: readonly (readonly [string, string])[] = [
  ['1 … 5', 'Overview, Episodes, Tasks, Run, Compare'],
  ['j, k or ↓, ↑', 'next, previous row of a table'],
  ['Enter', 'open the row'],
  ['Esc', 'leave a field; back to the list'],
  ['/', 'search'],
  ['[ and ]', 'previous, next episode'],
  ['n and p', 'next, previous page of episodes'],
  ['c, t, s, r', 'conversation, tokens, siblings, record of an episode'],
  ['← and →', 'previous, next token'],
  ['?', 'show this list'],
];

export type KeyActions = Readonly<Record<string, (() => void) | undefined>>;

/** Runs the action of a key, unless the focus is in a field or a dialog. */
export function useKeys(actions: KeyActions): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      const { target, key } = event;
      if (target instanceof HTMLElement && key === 'Escape' && isField(target)) {
        target.blur();
        return;
      }
      if (isTakenBy(target, key)) return;
      const action = actions[key];
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  });
}

const isField = (target: Element): boolean => target.matches('input, select, textarea');

/** Whether the element with the focus needs the key itself. */
function isTakenBy(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest('dialog') !== null) return true;
  if (isField(target)) return true;
  return key === 'Enter' && target.matches('a, button, summary');
}
