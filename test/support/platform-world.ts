import { createHmac } from 'node:crypto';
import type { Provider } from '../../src/orchestrators/platform.ts';
import { ask, type Developer, type Told } from './whole-world.ts';

/** A connection as its developer got it. */
export type TestConnection = {
  readonly id: number;
  readonly provider: Provider;
  readonly secret: string;
  readonly webhookUrl: string;
  readonly preCallUrl: string;
};

const SECRET = 'secret-of-the-platform';

/** Connects an agent to a platform, with a secret of the platform where it brings one. */
export async function connectPlatform(
  url: string,
  { headers }: Pick<Developer, 'headers'>,
  agentId: number,
  provider: Provider,
): Promise<TestConnection> {
  const isOwn = provider === 'retell' || provider === 'bland';
  const made = await ask(`${url}/v1/developer/orchestrators`, {
    headers,
    body: { agentId, provider, ...(isOwn && { secret: SECRET }) },
  });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return made.body as unknown as TestConnection;
}

/** Headers with which a platform proves that it has sent a body. */
export function proofOf(
  { provider, secret }: Pick<TestConnection, 'provider' | 'secret'>,
  body: string,
): Record<string, string> {
  const hmac = (text: string) => createHmac('sha256', secret).update(text).digest('hex');
  switch (provider) {
    case 'vapi':
      return { 'x-vapi-secret': secret };
    case 'retell': {
      const stamp = Date.now();
      return { 'x-retell-signature': `v=${stamp},d=${hmac(`${body}${stamp}`)}` };
    }
    case 'bland':
      return { 'x-webhook-signature': hmac(body) };
    default:
      return { 'x-svc-signature': hmac(body) };
  }
}

/** The body of a call-end with this cost, in the platform's own spelling. */
export function endOf(
  provider: Provider,
  callId: string,
  costUsd: number,
  more: object = {},
): object {
  switch (provider) {
    case 'vapi':
      return {
        message: { type: 'end-of-call-report', cost: costUsd, call: { id: callId }, ...more },
      };
    case 'retell': {
      const call_cost = { combined_cost: Math.round(costUsd * 10_000) / 100 };
      return { event: 'call_ended', call: { call_id: callId, call_cost }, ...more };
    }
    case 'bland':
      return { call_id: callId, price: costUsd, completed: true, ...more };
    default:
      return { external_call_id: callId, cost_usd: costUsd, ...more };
  }
}

/** Posts a signed body to a URL of a connection. */
export function sendSigned(connection: TestConnection, url: string, body: object): Promise<Told> {
  const text = JSON.stringify(body);
  return ask(url, { headers: proofOf(connection, text), body: text });
}
