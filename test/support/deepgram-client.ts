import { DeepgramClient } from '@deepgram/sdk';
import type { SentEvent } from './voice-world.ts';

type Connection = Awaited<ReturnType<DeepgramClient['listen']['v1']['connect']>>;
type ConnectArgs = Parameters<DeepgramClient['listen']['v1']['connect']>[0];

/** The vendor's own client, unmodified, with what it was told and how its socket ended. */
export type DeepgramListener = {
  readonly connection: Connection;
  readonly events: SentEvent[];
  readonly errors: string[];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  of(type: string): SentEvent[];
  /** What was made out for good, in order. */
  said(): string;
};

/** Connects it once, without its own repeats. */
export async function listenWithDeepgram(
  target: { readonly wsUrl: string; readonly apiKey: string },
  args: Omit<ConnectArgs, 'Authorization'>,
): Promise<DeepgramListener> {
  const { apiKey, wsUrl } = target;
  const base = wsUrl.replace(/^ws/, 'http');
  const environment = { base, production: wsUrl, agent: wsUrl, agentRest: base };
  const client = new DeepgramClient({ apiKey, environment });
  const connection = await client.listen.v1.connect({
    ...{ Authorization: '', reconnectAttempts: 0 },
    ...args,
  });
  const events: SentEvent[] = [];
  const errors: string[] = [];
  connection.on('message', (message) => events.push(message as unknown as SentEvent));
  connection.on('error', ({ message }) => errors.push(message));
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    connection.on('close', ({ code, reason }) => resolve({ code, reason }));
  });
  const of = (type: string) => events.filter((event) => event.type === type);
  return {
    ...{ connection, events, errors, closed, of },
    said: () =>
      of('Results')
        .filter((event) => event.is_final === true)
        .map(transcriptOf)
        .filter((text) => text !== '')
        .join(' '),
  };
}

type Alternatives = { readonly alternatives: readonly { readonly transcript: string }[] };

export const transcriptOf = (event: SentEvent | undefined): string =>
  (event?.channel as Alternatives | undefined)?.alternatives[0]?.transcript ?? '';
