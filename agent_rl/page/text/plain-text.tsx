import { useState } from 'preact/hooks';

import { visibleText } from './visible-text.ts';

/** Characters shown before the reader asks for more. */
const shownAtFirst = 20_000;
/** Characters that each further click shows; the browser would freeze with more. */
const shownWithEach = 1_000_000;

/** Text of a model or a file, with invisible characters written out. */
export function Visible({ text }: { text: string }) {
  return (
    <>
      {visibleText(text).map((part, at) =>
        part.escaped ? (
          <span key={at} class="unseen" title="An invisible character">
            {part.text}
          </span>
        ) : (
          part.text
        ),
      )}
    </>
  );
}

/** A block of such text; a very long one is shortened until the reader asks for more. */
export function PlainText({ text, label }: { text: string; label?: string }) {
  const [shown, setShown] = useState(shownAtFirst);
  const isCut = text.length > shown;
  return (
    <div class="plain">
      <pre aria-label={label}>
        <Visible text={isCut ? text.slice(0, shown) : text} />
      </pre>
      {isCut && (
        <button type="button" onClick={() => setShown(Math.max(shown, 0) + shownWithEach)}>
          {text.length <= shown + shownWithEach
            ? `Show all (${text.length.toLocaleString('en')} characters)`
            : `Show ${shownWithEach.toLocaleString('en')} more of ${text.length.toLocaleString('en')} characters`}
        </button>
      )}
    </div>
  );
}
