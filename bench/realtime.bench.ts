import { type BenchRow, benchRow, verdict } from './bench-row.ts';
import { canPin, stayBeside } from './cores.ts';
import { openClients, startHost, takeTurns } from './live-clients.ts';
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

async function openHost({ frameMs, ...order }: RealtimeHostOrder & Talk) {
  const { sessions } = order;
  const sound = soundOf({ frameMs, sessions });
  const up = Buffer.from(`{"type":"input_audio_buffer.append","audio":"${sound}"}`);
  const host = await startHost('realtime-host', order);
  let heard = 0;
  const clients = await openClients({
    port: host.port,
    model: PEER.talks,
    sessions,
    heard: () => heard++,
  });
  return {
    cpu: host.cpu,
    /** All sessions talk for so long, and hear the rest out. */
    async converse(forMs: number): Promise<Load> {
      heard = 0;
      const sent = await takeTurns({ sessions, frameMs, forMs }, (session) =>
        clients.sockets[session]?.send(up, { binary: false }),
      );
      const deadlineMs = performance.now() + HEAR_OUT_MS;
      while (heard < sent && performance.now() < deadlineMs) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return { sent, heard };
    },
    /** Sessions that did not last. */
    ended: clients.ended,
    async end(): Promise<void> {
      clients.close();
      await host.end();
    },
  };
}
