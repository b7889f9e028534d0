import { fork } from 'node:child_process';
import { once } from 'node:events';
import WebSocket from 'ws';
import { loadUws } from '../src/http/uws.ts';
import { nextMessage } from '../test/support/next-message.ts';
import { type BenchRow, benchRow, verdict } from './bench-row.ts';
import { compiled } from './compiled.ts';
import { canPin, stayBeside, underTest } from './cores.ts';
import { processCpu } from './cpu.ts';
import type { RealtimeHostOrder } from './realtime-host.ts';

const SESSIONS = 300;
const FRAME_MS = 20;
const ROUNDS = 4;
const ROUND_MS = 5_000;
const BAR = 1.5;
/** 20 ms of 24 kHz, 16 bits, in base64. */
const SOUND = 'A'.repeat(1_280);
const UP = Buffer.from(`{"type":"input_audio_buffer.append","audio":"${SOUND}"}`);
const DOWN = Buffer.from(
  `{"type":"response.output_audio.delta","event_id":"event_0123456789","response_id":"resp_0","item_id":"item_0","output_index":0,"content_index":0,"delta":"${SOUND}"}`,
);

type Kind = RealtimeHostOrder['kind'];
type Load = { readonly sent: number; readonly heard: number };

/**
 * P9: what a relayed frame costs of the server's CPU, beside nothing but uWebSockets.js and ws. Every session sends a
 * frame of sound each 20 ms, and its upstream answers it with one.
 */
export async function benchRealtime(): Promise<BenchRow[]> {
  using _beside = stayBeside();
  using upstream = await openUpstream();
  const hosts = new Map<Kind, Awaited<ReturnType<typeof openHost>>>();
  for (const kind of ['bare', 'metered'] as const) {
    hosts.set(kind, await openHost({ kind, upstreamPort: upstream.port, sessions: SESSIONS }));
  }
  const frames = new Map<Kind, number>();
  const cpu = new Map<Kind, number>();
  let lost = 0;
  for (let round = 0; round < ROUNDS; round++) {
    for (const [kind, host] of hosts) {
      const before = host.cpu();
      const { sent, heard } = await host.converse(ROUND_MS);
      // The first warms up.
      if (round === 0) continue;
      lost += sent - heard;
      frames.set(kind, (frames.get(kind) ?? 0) + sent + heard);
      cpu.set(kind, (cpu.get(kind) ?? 0) + host.cpu() - before);
    }
  }
  for (const host of hosts.values()) await host.end();
  const each = (kind: Kind) => (cpu.get(kind) ?? 0) / (frames.get(kind) ?? 1);
  const ratio = each('metered') / each('bare');
  const pinned = canPin ? '' : 'not pinned';
  const rate = (frames.get('metered') ?? 0) / (((ROUNDS - 1) * ROUND_MS) / 1_000);
  return [
    benchRow('P9', 'bare relay, CPU a frame', each('bare'), 'µs', pinned),
    benchRow('P9', 'metered relay, CPU a frame', each('metered'), 'µs'),
    benchRow('P9', 'metered over bare', ratio, '×', `≤ ${BAR}: ${verdict(ratio <= BAR)}`),
    benchRow('P9', 'frames a second, both ways', rate, '/s', `${SESSIONS} sessions`),
    benchRow('P9', 'frames lost', lost, '', verdict(lost === 0)),
  ];
}

/** Answers each frame with one. */
async function openUpstream(): Promise<Disposable & { readonly port: number }> {
  const uws = await loadUws();
  const app = uws.App().ws('/*', {
    maxPayloadLength: 1024 * 1024,
    maxBackpressure: 16 * 1024 * 1024,
    message: (socket) => void socket.send(DOWN, false),
  });
  return new Promise((resolve) => {
    app.listen('127.0.0.1', 0, (socket) =>
      resolve({
        port: uws.us_socket_local_port(socket as never),
        [Symbol.dispose]: () => uws.us_listen_socket_close(socket as never),
      }),
    );
  });
}

async function openHost(order: RealtimeHostOrder) {
  const [command, options] = underTest(process.execPath, []);
  const module = compiled('realtime-host');
  const child = fork(module, [JSON.stringify(order)], { execPath: command, execArgv: options });
  const { port } = await nextMessage<{ port: number }>(child);
  const clients: WebSocket[] = [];
  let heard = 0;
  for (let agent = 1; agent <= order.sessions; agent++) {
    const client = new WebSocket(`ws://127.0.0.1:${port}/v1/realtime?model=peer/v`, {
      headers: { authorization: `Bearer svc_${agent}` },
      ...{ perMessageDeflate: false, skipUTF8Validation: true },
    });
    client.on('message', () => heard++);
    await once(client, 'open');
    clients.push(client);
  }

  return {
    cpu: () => processCpu(child.pid ?? 0),
    /** All sessions talk for so long, and hear the rest out. */
    async converse(forMs: number): Promise<Load> {
      heard = 0;
      let sent = 0;
      const startMs = performance.now();
      // A tenth of the sessions at a time, so that not all speak at once.
      for (let step = 0; step < (forMs / FRAME_MS) * 10; step++) {
        for (let at = step % 10; at < clients.length; at += 10) {
          clients[at]?.send(UP, { binary: false });
          sent++;
        }
        const waitMs = startMs + ((step + 1) * FRAME_MS) / 10 - performance.now();
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, waitMs)));
      }
      const deadlineMs = performance.now() + 5_000;
      while (heard < sent && performance.now() < deadlineMs) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return { sent, heard };
    },
    async end(): Promise<void> {
      for (const client of clients) client.terminate();
      child.kill();
      await once(child, 'exit');
    },
  };
}
