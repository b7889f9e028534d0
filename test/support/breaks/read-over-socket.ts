import WebSocket from 'ws';
import { AGENT_KEY } from '../gateway-world.ts';

type Last = { readonly type: string; readonly status?: number; readonly cost_usdc?: string };

const LAST: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
]);

/** Asks for one response over a connection of its own, and reads its messages to the last one as if they were events. */
export function readOverSocket(
  url: string,
  wanted: object,
  { signal, take }: { readonly signal: AbortSignal; readonly take: (bytes: number) => void },
) {
  const headers = { authorization: `Bearer ${AGENT_KEY}` };
  const ws = new WebSocket(url.replace(/^http/, 'ws'), { headers, perMessageDeflate: false });
  const events: string[] = [];
  signal.addEventListener('abort', () => ws.terminate());
  return new Promise<{ costRaw: bigint; status: number; bytes: Buffer; isCut: boolean }>(
    (resolve, reject) => {
      let last: Last | undefined;
      ws.on('open', () => ws.send(JSON.stringify({ type: 'response.create', ...wanted })));
      ws.on('message', (data: Buffer) => {
        take(data.length);
        events.push(`data: ${data}\n\n`);
        const event = JSON.parse(data.toString()) as Last;
        if (!LAST.has(event.type)) return;
        last = event;
        ws.close();
      });
      ws.on('error', reject);
      ws.on('close', () =>
        resolve({
          costRaw: BigInt(last?.cost_usdc ?? 0),
          status: last?.status ?? 200,
          bytes: Buffer.from(events.join('')),
          isCut: last === undefined,
        }),
      );
    },
  );
}
