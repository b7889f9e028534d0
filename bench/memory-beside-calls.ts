import { withDatabase } from './bench-database.ts';
import { type BenchRow, benchRow, verdict } from './bench-row.ts';
import { CYCLE_FRAMES, callersSound, FRAME_MS, SPEECH_FRAMES } from './callers-sound.ts';
import type { Lateness } from './lateness.ts';
import { takeTurns } from './live-clients.ts';
import { openCallers } from './phone-callers.ts';
import { at } from './quantile.ts';

const CALLS = 300;
const SEARCHES_A_SECOND = 50;
const WARM_MS = 12_000;
const TALK_MS = 20_000;
const LATE_MS = 40;
const BAR_MS = 50;

/** M: searches of 100,000 memories in the process of 300 running calls, on all cores: how long they take, and which frames are late. */
export function benchMemoryBesideCalls(): Promise<BenchRow[]> {
  return withDatabase(async (sql, target) => {
    const { callers, close, host, lost } = await openCallers(sql, {
      kind: 'live',
      engines: 'prompt',
      calls: CALLS,
      target,
      isTimed: true,
      lateMs: LATE_MS,
      searchesPerSecond: SEARCHES_A_SECOND,
      isPinned: false,
    });
    const sound = callersSound();
    const places = Int32Array.from({ length: CALLS }, (_, i) => -((i * 97) % CYCLE_FRAMES));
    const talk = (forMs: number) =>
      takeTurns({ sessions: CALLS, frameMs: FRAME_MS, forMs }, (caller) => {
        const place = places[caller] as number;
        places[caller] = (place + 1) % CYCLE_FRAMES;
        callers[caller]?.say(sound[place < 0 ? SPEECH_FRAMES : place] as string);
      });
    await talk(WARM_MS);
    await host.ask('forgetLateness');
    await host.ask('searches');
    await talk(TALK_MS);
    const { frames, late, mostMs } = await host.ask<Lateness>('lateness');
    const searches = await host.ask<number[]>('searches');
    const gone = lost();
    await close();
    const p99 = at(searches, 0.99);
    const what = `100,000 of 512, ${SEARCHES_A_SECOND} a second beside ${CALLS} calls`;
    return [
      benchRow('M', `${what}: a search, p50`, at(searches, 0.5), 'ms'),
      benchRow('M', `${what}: p99`, p99, 'ms', `bar <= ${BAR_MS}: ${verdict(p99 <= BAR_MS)}`),
      benchRow(
        'M',
        `${what}: frames over ${LATE_MS} ms`,
        late,
        '',
        `bar 0: ${verdict(late === 0 && gone === 0)}, of ${frames}, the latest ${mostMs} ms, ${gone} calls lost`,
      ),
    ];
  });
}
