import { DeepgramClient } from '@deepgram/sdk';
import type { SentEvent } from './voice-world.ts';

type Connection = Awaited<ReturnType<DeepgramClient['listen']['v1']['connect']>>;
type ConnectArgs = Parameters<DeepgramClient['listen']['v1']['connect']>[0];

type DeepgramTarget = { readonly wsUrl: string; readonly apiKey: string };

/** What a client was told, and how its socket ended. */
type Told = {
  readonly events: SentEvent[];
  readonly errors: string[];
  readonly sound: { readonly bytes: number };
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  of(type: string): SentEvent[];
};

/** The vendor's own client, unmodified. */
export type DeepgramListener = Told & {
  readonly connection: Connection;
  /** What was made out for good, in order. */
  said(): string;
};

/** Connects it once, without its own repeats. */
export async function listenWithDeepgram(
  target: DeepgramTarget,
  args: Omit<ConnectArgs, 'Authorization'>,
): Promise<DeepgramListener> {
  const connection = await clientAt(target).listen.v1.connect({
    Authorization: '',
    reconnectAttempts: 0,
    ...args,
  });
  const told = hear(connection);
  return {
    connection,
    ...told,
    said: () =>
      told
        .of('Results')
        .filter((event) => event.is_final === true)
        .map(transcriptOf)
        .filter((text) => text !== '')
        .join(' '),
  };
}

type Speaker = Awaited<ReturnType<DeepgramClient['speak']['v2']['connect']>>;
type SpeakArgs = Parameters<DeepgramClient['speak']['v2']['connect']>[0];

/** The same for speech in turns; sound comes as blobs. */
export async function speakWithDeepgram(
  target: DeepgramTarget,
  args: Omit<SpeakArgs, 'Authorization'>,
): Promise<Told & { readonly connection: Speaker }> {
  const connection = await clientAt(target).speak.v2.connect({
    Authorization: '',
    reconnectAttempts: 0,
    ...args,
  });
  const told = hear(connection);
  connection.connect();
  await connection.waitForOpen();
  return { connection, ...told };
}

function clientAt({ apiKey, wsUrl }: DeepgramTarget): DeepgramClient {
  const base = wsUrl.replace(/^ws/, 'http');
  const environment = { base, production: wsUrl, agent: wsUrl, agentRest: base };
  return new DeepgramClient({ apiKey, environment });
}

function hear(connection: Connection | Speaker): Told {
  const events: SentEvent[] = [];
  const errors: string[] = [];
  const sound = { bytes: 0 };
  connection.on('message', (message: unknown) => {
    if (message instanceof Blob) sound.bytes += message.size;
    else events.push(message as SentEvent);
  });
  connection.on('error', ({ message }: Error) => errors.push(message));
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    connection.on('close', ({ code, reason }) => resolve({ code, reason }));
  });
  const of = (type: string) => events.filter((event) => event.type === type);
  return { events, errors, sound, closed, of };
}

type Alternatives = { readonly alternatives: readonly { readonly transcript: string }[] };

export const transcriptOf = (event: SentEvent | undefined): string =>
  (event?.channel as Alternatives | undefined)?.alternatives[0]?.transcript ?? '';
