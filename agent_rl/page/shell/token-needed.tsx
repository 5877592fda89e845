import { useState } from 'preact/hooks';

/** Shown for an address without the server's token. */
export function TokenNeeded() {
  const [token, setToken] = useState('');
  return (
    <main class="token-needed">
      <h1>agent_rl</h1>
      <p>
        This address has no token. Open the address that <code>agent-rl view</code> printed, or
        enter the token here.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          location.search = new URLSearchParams({ token: token.trim() }).toString();
        }}
      >
        <label>
          Token{' '}
          <input
            autocomplete="off"
            value={token}
            onInput={({ currentTarget }) => setToken(currentTarget.value)}
          />
        </label>{' '}
        <button type="submit">Open</button>
      </form>
    </main>
  );
}
