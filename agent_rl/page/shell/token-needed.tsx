import { useState } from 'preact/hooks';

/** For an address without the token that the server was started with. */
export function TokenNeeded() {
  const [token, setToken] = useState('');
  return (
    <main class="token-needed">
      <h1>agent_rl</h1>
      <p>
        This address lacks its token. Open the one that <code>agent-rl view</code> prints, or give
        the token here.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          location.search = new URLSearchParams({ token: token.trim() }).toString();
        }}
      >
        <label>
          token{' '}
          <input
            autocomplete="off"
            value={token}
            onInput={({ currentTarget }) => setToken(currentTarget.value)}
          />
        </label>{' '}
        <button type="submit">open</button>
      </form>
    </main>
  );
}
