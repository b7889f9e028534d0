import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { encodeMulaw } from '../media/mulaw.ts';
import type { DatabaseTarget, Sql } from '../src/platform/postgres/sql.ts';
import { callEvents } from '../test/support/call-receipts.ts';
import { type AimedCarrier, aimedCarrier, fundAt } from '../test/support/carrier-processes.ts';
import type { SimCall } from '../test/support/carrier-sim/sim-call.ts';
import { buyNumber, greetWith, TO } from '../test/support/carrier-world.ts';
import { HANDOVER_SILENCE_MS, type HandedOver, handedOver } from '../test/support/handed-over.ts';
import { loadRecording, overTelephone } from '../test/support/speech.ts';
import { ask } from '../test/support/whole-world.ts';
import { withDatabase } from './bench-database.ts';
import { type BenchRow, benchRow, verdict } from './bench-row.ts';
import { type Host, startHost } from './live-clients.ts';

/** What `handover-host` serves. */
export type HandoverHostOrder = {
  readonly environment: Readonly<Record<string, string>>;
  readonly target: DatabaseTarget;
};

/** How a process ends. */
const ENDS = [
  { name: 'stopped', signal: 'SIGTERM' },
  { name: 'killed', signal: 'SIGKILL' },
] as const;

/** The embedded database has room for one. */
const TWO_SERVERS = { max_connections: '100' };
/** Of each kind, at once. */
const CALLS = 3;
const GREETING = 'Hello.';
const LONG_GREETING =
  'Hello, this is your agent. Your order has left the house. It will be there on Friday. Is that all right for you?';
const SPEECH = 'librivox-0880.wav';
const QUESTION = 'What is two plus two?';
/** So much of a greeting is heard before its process ends. */
const HEARD_FRAMES = 75;
const PATIENCE_MS = 20_000;

/**
 * A process with calls of Twilio ends, and Twilio's `<Redirect>` brings them to another one: how long their far sides
 * hear nothing. Some hear their greeting meanwhile, others wait for the answer to a question.
 */
export async function benchHandover(): Promise<BenchRow[]> {
  return withDatabase(async (sql, target) => {
    await using carrier = await aimedCarrier({
      numbers: Array.from({ length: 40 }, (_, n) => `+1415555${5_000 + n}`),
    });
    const rows: BenchRow[] = [];
    for (const end of ENDS) rows.push(...(await handOver(sql, target, carrier, end)));
    return rows;
  }, TWO_SERVERS);
}

async function handOver(
  sql: Sql,
  target: DatabaseTarget,
  carrier: AimedCarrier,
  { name, signal }: (typeof ENDS)[number],
): Promise<BenchRow[]> {
  // More calls than a recogniser of unknown speed has places for.
  const environment = { ...carrier.environment, LOCAL_LISTENERS: '100' };
  const order: HandoverHostOrder = { environment, target };
  const start = () => startHost('handover-host', order, { isPinned: false });
  const [dying, kept] = await Promise.all([start(), start()]);
  const place = async (host: Host, greeting: string, calls = CALLS) => {
    const server = urlOf(host);
    carrier.aim(server);
    const names = Array.from({ length: calls }, (_, n) => `${name} ${n}`);
    return Promise.all(names.map((name) => placeCall(sql, carrier, { ...server, name, greeting })));
  };
  // Engines of a process load with its first call.
  const own = await place(kept, GREETING, 1);
  await until(() => own.every(({ line }) => hasHeardOut(line)));
  for (const { line } of own) await talk(line);
  const asking = await place(dying, GREETING);
  await until(() => asking.every(({ line }) => hasHeardOut(line)));
  const listening = await place(dying, LONG_GREETING);
  await until(() => listening.every(({ line }) => line.heard.length >= HEARD_FRAMES));
  // As though it were not answered yet.
  for (const { callId } of asking) {
    await sql`insert into call_turns (call_id, seq, role, content)
      values (${callId}, 2, 'user', ${QUESTION})`;
  }
  const calls = [...own, ...asking, ...listening];
  const endedMs = asking.map(({ line }) => line.sinceAnswerMs());
  carrier.aim(urlOf(kept));
  dying.signal(signal);
  const answered = await Promise.all(
    asking.map(({ line }) => goesOn(line, ({ firstSoundMs }) => firstSoundMs !== undefined)),
  );
  const heard = await Promise.all(listening.map(({ line }) => goesOn(line)));
  for (const { line } of calls) line.hangUp();
  const receipts = await until(async () => {
    const found = await Promise.all(calls.map(({ callId }) => callEvents(sql, callId)));
    return found.every(({ length }) => length > 0) && found;
  });
  await Promise.all([dying.end(), kept.end()]);

  const row = (what: string, silencesMs: readonly number[]) => {
    const longestMs = Math.max(...silencesMs);
    const bar = `≤ ${HANDOVER_SILENCE_MS} ms: ${verdict(longestMs <= HANDOVER_SILENCE_MS)}`;
    return benchRow('handover', `${name}: ${what}`, longestMs, 'ms', bar);
  };
  const all = [...answered, ...heard];
  return [
    row(
      'last sound to the next process that hears',
      heard.map(({ heardFromMs, lastSoundMs }) => heardFromMs - lastSoundMs),
    ),
    row(
      'nothing is heard of the far side',
      all.map(({ closedMs, heardFromMs }) => heardFromMs - closedMs),
    ),
    row(
      'its end to the answer of the next process',
      answered.map(({ firstSoundMs = Number.NaN }, n) => firstSoundMs - (endedMs[n] ?? 0)),
    ),
    benchRow(
      ...(['handover', `${name}: went on with one receipt, of ${calls.length}`] as const),
      ...([receipts.filter(isWhole).length, '', `load ${loadavg()[0]?.toFixed(1)}`] as const),
    ),
  ];
}

/** The only receipt of a call that its far side has ended. */
const isWhole = (receipts: readonly Readonly<Record<string, unknown>>[]): boolean =>
  receipts.length === 1 && receipts[0]?.reason === 'call_ended';

const urlOf = ({ port }: { readonly port: number }) => ({ url: `http://127.0.0.1:${port}` });

/** A call of an agent of its own, which is answered. */
async function placeCall(
  sql: Sql,
  { sim }: AimedCarrier,
  { greeting, name, url }: Record<'greeting' | 'name' | 'url', string>,
): Promise<{ readonly callId: string; readonly line: SimCall }> {
  const { agentId, headers } = await fundAt({ url }, name, 10_000_000n);
  const phoneNumber = await buyNumber(url, headers);
  await greetWith(sql, agentId, greeting);
  const { body } = await ask(`${url}/v1/calls`, { headers, body: { toNumber: TO } });
  const line = await until(() => sim.calls.find(({ from }) => from === phoneNumber));
  return { callId: String(body.callId), line };
}

/** The far side says something, and hears the answer to its end. */
async function talk(line: SimCall): Promise<void> {
  const pcm = overTelephone(loadRecording(SPEECH));
  const bytes = new Uint8Array(pcm.length);
  encodeMulaw(pcm, bytes);
  await line.say(bytes);
  const heardFrames = line.heard.length;
  await until(() => line.heard.length > heardFrames && hasHeardOut(line));
}

/** The far side has heard the greeting, and nothing for a while. */
function hasHeardOut(line: SimCall): boolean {
  const last = line.heard.at(-1);
  return last !== undefined && line.sinceAnswerMs() > last.atMs + 400;
}

/** Waits until a call has gone on as is asked for. */
const goesOn = (line: SimCall, isDone: (call: HandedOver) => boolean = () => true) =>
  until(async () => {
    const call = await handedOver(line);
    return call !== undefined && isDone(call) && call;
  });

async function until<T>(check: () => T | Promise<T>): Promise<Exclude<T, false | undefined>> {
  const lateMs = performance.now() + PATIENCE_MS;
  while (performance.now() < lateMs) {
    const found = await check();
    if (found !== false && found !== undefined) return found as Exclude<T, false | undefined>;
    await delay(10);
  }
  throw new Error('a call did not come as far as it should');
}
