import { escapeUnseen } from '../text/visible-text.ts';

/** Something that went wrong, where its result would be. */
export function Problem({ text }: { text: string | undefined }) {
  return text === undefined ? null : (
    <p class="problem" role="alert">
      {escapeUnseen(text)}
    </p>
  );
}
