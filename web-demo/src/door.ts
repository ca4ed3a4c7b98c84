// The server's door: trades the address's one-use code for a session, and says how it stands.

/** How the page stands with the server that sent it. */
export type Standing =
  | { is: 'inside' }
  /** The server wants a fresh address; `reason` is what it said to the last code, '' without one. */
  | { is: 'outside'; reason: string }
  /** The page was not sent by a Twolane server, or the server is gone. */
  | { is: 'alone' };

/** Posts the code where there is one, then asks whether this page may watch. */
export async function enter(code: string | null): Promise<Standing> {
  const refusal = code === null ? '' : await post(code);
  const standing = await ask();
  return standing.is === 'outside' ? { is: 'outside', reason: refusal } : standing;
}

/** Asks whether this page may watch. */
export async function ask(): Promise<Standing> {
  try {
    const answer = await fetch('/api/session');
    const said: unknown = answer.ok ? await answer.json() : null;
    if (typeof said !== 'object' || said === null || !('valid' in said)) {
      return { is: 'alone' };
    }
    return said.valid === true ? { is: 'inside' } : { is: 'outside', reason: '' };
  } catch {
    return { is: 'alone' };
  }
}

/** Trades a code; '' if it was taken, else the server's sentence. */
async function post(code: string): Promise<string> {
  try {
    const answer = await fetch('/api/enter', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    });
    if (answer.ok) {
      return '';
    }
    const said: unknown = await answer.json();
    if (typeof said === 'object' && said !== null && 'text' in said && typeof said.text === 'string') {
      return said.text;
    }
    return `the server answered ${answer.status}`;
  } catch {
    return 'the server did not answer';
  }
}
