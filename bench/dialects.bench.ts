import { type BenchRow, benchRow, verdict } from './bench-row.ts';
import type { DialectLoad, DialectOrder } from './dialects-peer.ts';
import type { KeptFloor } from './gateway-host.ts';
import { type UnderTest, withMetered } from './gateways.ts';
import { at, median } from './quantile.ts';

/** By turns, because a neighbour's load comes and goes. */
const ROUNDS = 7;
/** V8 compiles in these: what all doors share runs in each of their requests, what is a door's own in its requests alone. */
const WARM_ROUNDS = 4;
const WHOLE = { requests: 2_000, callers: 64 };
const FIRST = { requests: 40, callers: 1, words: 1 };
/** About a second of each. */
const STREAMS = { requests: 256, callers: 256, words: 50 };
/** Of the same figure of chat, measured in the same round. */
const MOST_TIMES = 1.15;

const PROMPT = 'y'.repeat(180);
const SYSTEM = 'You answer briefly.';

type Door = {
  readonly what: string;
  readonly path: string;
  bodyOf(words: number, isStream: boolean): object;
};

const messages = [{ role: 'user', content: PROMPT }];

const chat: Door = {
  what: 'chat',
  path: '/v1/chat/completions',
  bodyOf: (max_tokens, stream) => ({
    model: 'bench/model',
    max_tokens,
    stream,
    messages: [{ role: 'system', content: SYSTEM }, ...messages],
  }),
};

const responsesOf = (what: string, model: string, store: boolean): Door => ({
  what,
  path: '/v1/responses',
  bodyOf: (max_output_tokens, stream) => ({
    model,
    max_output_tokens,
    stream,
    store,
    instructions: SYSTEM,
    input: messages,
  }),
});

const messagesOf = (what: string, model: string): Door => ({
  what,
  path: '/v1/messages',
  bodyOf: (max_tokens, stream) => ({ model, max_tokens, stream, system: SYSTEM, messages }),
});

const relayed = responsesOf('responses, relayed', 'bench/responses', false);

const DOORS: readonly Door[] = [
  chat,
  relayed,
  responsesOf('responses, translated', 'bench/model', false),
  responsesOf('responses, relayed and kept', 'bench/responses', true),
  messagesOf('messages, relayed', 'bench/messages'),
  messagesOf('messages, translated', 'bench/model'),
];

/** One round of one door. */
type Taken = {
  readonly wholeMicros: number;
  readonly perSecond: number;
  readonly firstMs: number;
  readonly eventMicros: number;
  readonly unread: number;
};

/** A response of this bench with its input, as it is kept. */
const KEPT: KeptFloor = { rows: 1_000, bytes: 1_700 };

/**
 * P1 and P3 of the dialects beside chat in one run: the CPU of one of many metered answers that come whole, the time to the
 * first token of a lone stream, and the CPU of an upstream's event within 256 streams; each dialect relayed to an upstream
 * that speaks it, and translated for one that speaks chat alone.
 */
export const benchDialects = (): Promise<BenchRow[]> =>
  withMetered('dialects-peer', async ({ ask, metered }) => {
    const taken = new Map<Door, Taken[]>(DOORS.map((door) => [door, []]));
    const keptMicros: number[] = [];
    for (let round = 0; round < WARM_ROUNDS + ROUNDS; round++) {
      for (const [door, rounds] of taken) {
        const one = await measure(metered, ask, door);
        if (round >= WARM_ROUNDS) rounds.push(one);
      }
      const keptMicrosNow = await metered.ask<number>(KEPT);
      if (round >= WARM_ROUNDS) keptMicros.push(keptMicrosNow);
    }
    return [...rowsOf(taken), keptFloorOf(taken, median(keptMicros))];
  });

type Ask = (order: DialectOrder) => Promise<DialectLoad>;

async function measure(server: UnderTest, ask: Ask, door: Door): Promise<Taken> {
  const { headers, port } = server;
  const load = (words: number, isStream: boolean, { callers, requests }: typeof WHOLE) => {
    const body = JSON.stringify(door.bodyOf(words, isStream));
    return ask({ port, headers, path: door.path, body, callers, requests });
  };
  const start = server.cpu();
  const { perSecond } = await load(200, false, WHOLE);
  const wholeMicros = (server.cpu() - start) / WHOLE.requests;
  const { firstMs } = await load(FIRST.words, true, FIRST);
  const before = server.cpu();
  const { words } = await load(STREAMS.words, true, STREAMS);
  const eventMicros = (server.cpu() - before) / words;
  const unread = STREAMS.requests * STREAMS.words - words;
  return { wholeMicros, perSecond, firstMs: at(firstMs, 0.5), eventMicros, unread };
}

/** The least that a kept response can cost: the door that keeps nothing, and the sealing and the row by themselves. */
function keptFloorOf(taken: ReadonlyMap<Door, readonly Taken[]>, keptMicros: number): BenchRow {
  const wholeOf = (door: Door) => median((taken.get(door) ?? []).map((one) => one.wholeMicros));
  const times = (wholeOf(relayed) + keptMicros) / wholeOf(chat);
  const note = `with the relayed door ${times.toFixed(2)} × chat: what is kept cannot cost less`;
  return benchRow('P1', 'responses, sealing and row alone, CPU', keptMicros, 'µs', note);
}

function rowsOf(taken: ReadonlyMap<Door, readonly Taken[]>): BenchRow[] {
  const beside = taken.get(chat) ?? [];
  return [...taken].flatMap(([{ what }, rounds]) => {
    const of = (figure: keyof Taken) => median(rounds.map((round) => round[figure]));
    const row = (bar: string, figure: keyof Taken, unit: string, of_: string): BenchRow => {
      const times = median(rounds.map((one, i) => one[figure] / (beside[i]?.[figure] ?? NaN)));
      const note = `${times.toFixed(2)} × chat, bar <= ${MOST_TIMES}: ${verdict(times <= MOST_TIMES)}`;
      return benchRow(bar, `${what}, ${of_}`, of(figure), unit, rounds === beside ? '' : note);
    };
    const unread = rounds.reduce((sum, round) => sum + round.unread, 0);
    return [
      row('P1', 'wholeMicros', 'µs', 'CPU a request'),
      benchRow('P1', `${what}, ${WHOLE.callers} callers`, of('perSecond'), 'requests/s'),
      row('P3', 'firstMs', 'ms', 'first token, p50'),
      row('P3', 'eventMicros', 'µs', `CPU an event of ${STREAMS.callers} streams`),
      benchRow('P3', `${what}, not read`, unread, 'events', `bar 0: ${verdict(unread === 0)}`),
    ];
  });
}
