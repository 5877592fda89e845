import { useEffect } from 'preact/hooks';

/** What the keys do, as the help shows it. */
export const keyHelp: readonly (readonly [string, string])[] = [
  ['1 … 5', 'Overview, Episodes, Tasks, Run, Compare'],
  ['j, k or ↓, ↑', 'next and previous row of a table'],
  ['Enter', 'opens the row'],
  ['Esc', 'out of a field; back to the list'],
  ['/', 'to the search'],
  ['[ and ]', 'previous and next episode'],
  ['n and p', 'next and previous page of episodes'],
  ['c, t, s, r', 'of an episode: conversation, tokens, siblings, record'],
  ['← and →', 'in the tokens: previous and next token'],
  ['?', 'this list'],
];

export type KeyActions = Readonly<Record<string, (() => void) | undefined>>;

/** Does what a key stands for, wherever the focus is but in a field or a dialogue. */
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
