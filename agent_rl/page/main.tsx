import { render } from 'preact';

import { AnswersContext, serverAnswers } from './data/answers.ts';
import { exportAnswers, isExport } from './data/export-answers.ts';
import { App } from './shell/app.tsx';
import { TokenNeeded } from './shell/token-needed.tsx';

/** Renders the page with data from the server or from the export. */
function start(): void {
  const place = document.getElementById('page');
  if (place === null) throw new Error('The document has no element with the id "page".');
  const token = new URLSearchParams(location.search).get('token');
  if (!isExport(document) && token === null) {
    render(<TokenNeeded />, place);
    return;
  }
  const answers = isExport(document) ? exportAnswers(document) : serverAnswers(token ?? '');
  render(
    <AnswersContext.Provider value={answers}>
      <App />
    </AnswersContext.Provider>,
    place,
  );
}

start();
