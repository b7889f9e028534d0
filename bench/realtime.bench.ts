import { fork } from 'node:child_process';
import { once } from 'node:events';
import WebSocket from 'ws';
import { nextMessage } from '../test/support/next-message.ts';
import { type BenchRow, benchRow, verdict } from './bench-row.ts';
import { compiled } from './compiled.ts';
import { canPin, stayBeside, underTest } from './cores.ts';
import { processCpu } from './cpu.ts';
import { openLiveUpstream } from './live-upstream.ts';
import type { RealtimeHostOrder } from './realtime-host.ts';
import { PEER } from './relays.ts';

const ROUNDS = 4;
const ROUND_MS = 5_000;
/** A frame that has not come by then is lost; a machine with other work to do is only late. */
const HEAR_OUT_MS = 60_000;
const BAR = 1.5;

/** So many sessions, each of which sends a frame of so much sound as often. */
type Talk = { readonly sessions: number; readonly frameMs: number };

const TALKS: readonly Talk[] = [
  { sessions: 300, frameMs: 20 },
  { sessions: 1_000, frameMs: 100 },
];

type Kind = RealtimeHostOrder['kind'];
type Load = { readonly sent: number; readonly heard: number };
type Host = Awaited<ReturnType<typeof openHost>>;

/** 24 kHz, 16 bits, in base64. */
const soundOf = ({ frameMs }: Talk): string => 'A'.repeat(64 * frameMs);

const downOf = (talk: Talk): Buffer =>
  Buffer.from(
    `{"type":"response.output_audio.delta","event_id":"event_0123456789","response_id":"resp_0","item_id":"item_0","output_index":0,"content_index":0,"delta":"${soundOf(talk)}"}`,
  );

/**
 * P9: what a relayed frame costs of the server's CPU, beside nothing but uWebSockets.js and ws. Every session sends its
 * frames of sound, and its upstream answers each with one.
 */
export async function benchRealtime(): Promise<BenchRow[]> {
  using _beside = stayBeside();
  const rows: BenchRow[] = [];
  for (const talk of TALKS) rows.push(...(await benchTalk(talk)));
  return rows;
}

async function benchTalk(talk: Talk): Promise<BenchRow[]> {
  const down = [downOf(talk)];
  using upstream = await openLiveUpstream(() => down);
  const hosts = new Map<Kind, Host>();
  for (const kind of ['bare', 'metered'] as const) {
    hosts.set(kind, await openHost({ kind, upstreamPort: upstream.port, ...talk }));
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
  let ended = 0;
  for (const host of hosts.values()) {
    ended += host.ended();
    await host.end();
  }
  const each = (kind: Kind) => (cpu.get(kind) ?? 0) / (frames.get(kind) ?? 1);
  const ratio = each('metered') / each('bare');
  const pinned = canPin ? '' : 'not pinned';
  const rate = (frames.get('metered') ?? 0) / (((ROUNDS - 1) * ROUND_MS) / 1_000);
  const what = `${talk.sessions} of ${talk.frameMs} ms`;
  return [
    benchRow('P9', `${what}: bare relay, CPU a frame`, each('bare'), 'µs', pinned),
    benchRow('P9', `${what}: metered relay, CPU a frame`, each('metered'), 'µs'),
    benchRow('P9', `${what}: metered over bare`, ratio, '×', `≤ ${BAR}: ${verdict(ratio <= BAR)}`),
    benchRow('P9', `${what}: frames a second, both ways`, rate, '/s'),
    benchRow(
      'P9',
      `${what}: frames lost`,
      lost,
      '',
      `${verdict(lost === 0)}, ${ended} sessions cut`,
    ),
  ];
}

const isOpen = (client: WebSocket | undefined): boolean => client?.readyState === WebSocket.OPEN;

async function openHost({ frameMs, ...order }: RealtimeHostOrder & Talk) {
  const sound = soundOf({ frameMs, ...order });
  const up = Buffer.from(`{"type":"input_audio_buffer.append","audio":"${sound}"}`);
  const [command, options] = underTest(process.execPath, []);
  const module = compiled('realtime-host');
  const child = fork(module, [JSON.stringify(order)], { execPath: command, execArgv: options });
  const { port } = await nextMessage<{ port: number }>(child);
  const clients: WebSocket[] = [];
  let heard = 0;
  async function connect(agent: number): Promise<void> {
    const client = new WebSocket(`ws://127.0.0.1:${port}/v1/realtime?model=${PEER.talks}`, {
      headers: { authorization: `Bearer svc_${agent}` },
      ...{ perMessageDeflate: false, skipUTF8Validation: true },
      // A mask of zeros is not applied: the core is shared with the upstream.
      generateMask: (mask) => void mask.fill(0),
    });
    client.on('message', () => heard++);
    client.on('error', () => {});
    await once(client, 'open');
    clients[agent - 1] = client;
  }
  for (let agent = 1; agent <= order.sessions; agent++) await connect(agent);
  await connectAgain();

  /** uWebSockets.js may cut a socket right after a late upgrade (README): a client connects again then. */
  async function connectAgain(): Promise<void> {
    for (let tries = 0; tries < 5; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      const cut = [...clients.keys()].filter((at) => !isOpen(clients[at]));
      if (cut.length === 0) return;
      for (const at of cut) await connect(at + 1);
    }
  }

  return {
    cpu: () => processCpu(child.pid ?? 0),
    /** All sessions talk for so long, and hear the rest out. */
    async converse(forMs: number): Promise<Load> {
      heard = 0;
      let sent = 0;
      const startMs = performance.now();
      // A tenth of the sessions at a time, so that not all speak at once.
      for (let step = 0; step < (forMs / frameMs) * 10; step++) {
        for (let at = step % 10; at < clients.length; at += 10) {
          clients[at]?.send(up, { binary: false });
          sent++;
        }
        const waitMs = startMs + ((step + 1) * frameMs) / 10 - performance.now();
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, waitMs)));
      }
      const deadlineMs = performance.now() + HEAR_OUT_MS;
      while (heard < sent && performance.now() < deadlineMs) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return { sent, heard };
    },
    /** Sessions that did not last. */
    ended: () => clients.filter((client) => !isOpen(client)).length,
    async end(): Promise<void> {
      for (const client of clients) client.terminate();
      child.kill();
      await once(child, 'exit');
    },
  };
}
