const shown = new Set<() => void>();

/** Registers what removes something from the terminal. @returns forgets it */
export function takenDown(remove: () => void): () => void {
  shown.add(remove);
  return () => shown.delete(remove);
}

/** Clears the terminal of what is drawn over and over, before an end that nothing else hears of. */
export const takeDown = (): void => {
  for (const remove of shown) remove();
};
