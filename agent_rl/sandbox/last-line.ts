/** A traceback says at its end what happened. */
export const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';
