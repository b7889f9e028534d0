import { expect } from 'vitest';
import { useAccountsEdge } from './accounts-edge.ts';
import { bearer } from './edge.ts';
import { testWallet } from './wallet.ts';

export const MEMBERS = '/v1/developer/team/members';
export const INVITES = '/v1/developer/team/invites';

type Headers = Readonly<Record<string, string>>;

export const addressOf = (name: string) => testWallet(name).address;

/** Status and code of an answer. */
export const refusal = ({ status, body }: { status: number; body: { error?: string } }) => [
  status,
  body.error,
];

/** One edge for the accounts of a file, and the steps by which wallets join an account. */
export function useTeams() {
  const used = useAccountsEdge();
  const { ask } = used;
  const signed = (name: string) => testWallet(name).headers(used.world.clock.now());

  const invite = (headers: Headers, email: string, role = 'member') =>
    ask('POST', INVITES, { headers, body: { email, role } });

  const accept = async (name: string, token: string) =>
    ask('POST', `${INVITES}/accept`, { headers: await signed(name), body: { token } });

  /** A session of the named wallet, for its own account until a header selects another. */
  async function sessionOf(name: string): Promise<Headers> {
    const answer = await ask('POST', '/v1/developer/auth/verify', { headers: await signed(name) });
    return bearer(/svc_session=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? '');
  }

  /** An account of the named wallet. */
  async function accountOf(name: string) {
    const headers = await used.edge.developer(name);
    const { body } = await ask('GET', '/v1/developer/profile', { headers });
    const accountId: string = body.developer.accountId;
    const selecting = { 'x-svc-account': accountId };
    return {
      headers,
      accountId,
      selecting,
      /** Has a wallet join, after the minute of the rate limit, and returns its session for this account. */
      async join(member: string, role: string): Promise<Headers> {
        used.world.clock.advance(60_000);
        const email = `${member.replaceAll(' ', '-')}@example.com`;
        const invited = await invite(headers, email, role);
        expect(invited.status).toBe(200);
        expect((await accept(member, invited.body.token)).status).toBe(200);
        return { ...(await sessionOf(member)), ...selecting };
      },
    };
  }

  return { used, ask, signed, invite, accept, sessionOf, accountOf };
}
