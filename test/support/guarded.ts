import { systemClock } from '../../src/kernel/clock.ts';
import {
  type CheckedDestination,
  createDestinationGuard,
  type DestinationGuardDeps,
} from '../../src/platform/egress/destination-guard.ts';
import { type Asker, OPERATOR } from '../../src/platform/egress/fair-shares.ts';
import {
  createGuardedClient,
  type GuardedClient,
  type GuardedClientDeps,
  type GuardedRequest,
} from '../../src/platform/egress/guarded-client.ts';
import { SendFailed } from '../../src/platform/egress/send-failed.ts';

/** A client that may call this machine, with names that resolve as it is told. */
export function guardedClient(
  options: Partial<DestinationGuardDeps & Omit<GuardedClientDeps, 'guard'>> = {},
): GuardedClient {
  const { clock = systemClock, ca, bounds } = options;
  const guard = createDestinationGuard({
    resolve: async () => ['127.0.0.1'],
    clock,
    allowLocalhost: true,
    domainAllowlist: [],
    ...options,
  });
  return createGuardedClient({
    guard,
    clock,
    ...(ca === undefined ? {} : { ca }),
    ...(bounds === undefined ? {} : { bounds }),
  });
}

/** One of an account of its own, with money or without. */
export const askerNamed = (agent: string, hasMoney = false, account = `of ${agent}`): Asker => ({
  agent,
  account,
  hasMoney: async () => hasMoney,
});

const PATIENT = { connectMs: 5_000, firstByteMs: 5_000, idleMs: 5_000, totalMs: 10_000 };

/** A request with defaults that nothing here runs into. */
export const request = (
  options: Partial<Omit<GuardedRequest, 'timeouts'>> & {
    readonly timeouts?: Partial<GuardedRequest['timeouts']>;
  } = {},
): GuardedRequest => ({
  method: 'GET',
  headers: [],
  signal: new AbortController().signal,
  maxHeaderBytes: 16 * 1024,
  maxResponseBytes: 1024 * 1024,
  ...options,
  timeouts: { ...PATIENT, ...options.timeouts },
});

/** A place at a port of this machine, as the guard would have admitted it. */
export const at = (
  port: number,
  options: Partial<CheckedDestination> = {},
): CheckedDestination => ({
  url: `http://vendor.example:${port}/`,
  origin: `http://vendor.example:${port}`,
  host: 'vendor.example',
  addresses: ['127.0.0.1'],
  asker: OPERATOR,
  ...options,
});

export const secure = (port: number): CheckedDestination =>
  at(port, {
    url: `https://vendor.example:${port}/`,
    origin: `https://vendor.example:${port}`,
  });

/** How a request failed, or a test that fails because it did not. */
export async function failureOf(sent: Promise<unknown>): Promise<SendFailed> {
  const outcome = await sent.then(
    (answer) => answer,
    (error: unknown) => error,
  );
  if (outcome instanceof SendFailed) return outcome;
  throw new Error('the request did not fail as one', { cause: outcome });
}

/** The whole body as text, one character a byte. */
export async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  for await (const chunk of body) text += Buffer.from(chunk).toString('latin1');
  return text;
}
