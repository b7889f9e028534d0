import { WebSocket } from 'undici';
import { bearer } from './api.ts';

export type DemoSocket = {
  send(data: string | Uint8Array): void;
  close(): void;
  /** Resolves with the close code when the socket has closed. */
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
