import { escapeUnseen } from '../text/visible-text.ts';

/** An error, shown where the result would be. */
export function Problem({ text }: { text: string | undefined }) {
  return text === undefined ? null : (
    <p class="problem" role="alert">
      {escapeUnseen(text)}
    </p>
  );
}
