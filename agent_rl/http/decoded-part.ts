import { Refusal } from './refusal.ts';

/** A part of an address as it was before it was encoded. @throws Refusal */
export function decodedPart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    const shown = JSON.stringify(text.slice(0, 80));
    throw new Refusal(400, `${shown} in the address is not encoded as addresses are.`);
  }
}
