import { useState } from 'preact/hooks';

import { visibleText } from './visible-text.ts';

/** Characters shown before the reader asks for more. */
const shownAtFirst = 20_000;
/** Characters that one more click shows: the browser lays out no more at once without a pause. */
const shownWithEach = 1_000_000;

/** Text of a model or a file, as text, with what cannot be seen written out. */
export function Visible({ text }: { text: string }) {
  return (
    <>
      {visibleText(text).map((part, at) =>
        part.escaped ? (
          <span key={at} class="unseen" title="A character that cannot be seen">
            {part.text}
          </span>
        ) : (
          part.text
        ),
      )}
    </>
  );
}

/** A block of such text; a very long one is cut until the reader asks for the rest. */
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
            ? `show all (${text.length.toLocaleString('en')} characters)`
            : `show ${shownWithEach.toLocaleString('en')} more of ${text.length.toLocaleString('en')} characters`}
        </button>
      )}
    </div>
  );
}
