import { WebSocket } from 'undici';
import { type Clock, sleep } from '../../kernel/clock.ts';
import { bearer } from './api.ts';

/** How often a microphone hands over sound. */
const PACKET_MS = 20;

export type DemoSocket = {
  send(data: string | Uint8Array): void;
  close(): void;
  /** Resolves with the code when the socket has closed. */
  readonly closed: Promise<number>;
};

/** Opens a WebSocket with the agent key in its header. Rejects when the upgrade is refused. */
export function openSocket(
  url: string,
  agentKey: string,
  onText: (text: string) => void,
): Promise<DemoSocket> {
  const socket = new WebSocket(url, { headers: bearer(agentKey) });
  const closed = new Promise<number>((resolve) => {
    socket.addEventListener('close', (event) => resolve(event.code));
  });
  socket.addEventListener('message', (event) => onText(String(event.data)));
  return new Promise((resolve, reject) => {
    socket.addEventListener('error', () => reject(new Error(`${url} refused the connection`)));
    socket.addEventListener('open', () =>
      resolve({ send: (data) => socket.send(data), close: () => socket.close(), closed }),
    );
  });
}

/**
 * Hands `pcm` over as a microphone would: 20 ms at a time, each packet at its own instant, so that lateness
 * does not add up.
 */
export async function speakAtRealTime(
  clock: Clock,
  pcm: Int16Array,
  sampleRateHz: number,
  send: (bytes: Uint8Array) => void,
): Promise<void> {
  const packet = (sampleRateHz * PACKET_MS) / 1_000;
  const startMs = clock.monotonicMs();
  for (let at = 0, n = 1; at < pcm.length; at += packet, n++) {
    const part = pcm.subarray(at, at + packet);
    send(new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
    await sleep(clock, startMs + n * PACKET_MS - clock.monotonicMs());
  }
}
