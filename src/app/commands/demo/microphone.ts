import { type Clock, sleep } from '../../../kernel/clock.ts';

/** Interval at which a microphone delivers sound. */
const PACKET_MS = 20;

/** An open microphone: silence, until something is said. */
export type Microphone = {
  /** Resolves when all of it has been said. */
  say(pcm: Int16Array): Promise<void>;
  close(): void;
};

/** Hands over 20 ms at a time, each packet at its own instant, so that lateness does not add up. */
export function openMicrophone(
  clock: Clock,
  sampleRateHz: number,
  send: (bytes: Uint8Array) => void,
): Microphone {
  const packet = (sampleRateHz * PACKET_MS) / 1_000;
  const silence = new Int16Array(packet);
  const closed = new AbortController();
  let saying: { readonly pcm: Int16Array; at: number; readonly said: () => void } | undefined;

  function next(): Int16Array {
    if (saying === undefined) return silence;
    const part = saying.pcm.subarray(saying.at, saying.at + packet);
    saying.at += packet;
    if (saying.at >= saying.pcm.length) {
      saying.said();
      saying = undefined;
    }
    return part;
  }

  async function run(): Promise<void> {
    const startMs = clock.monotonicMs();
    for (let n = 1; !closed.signal.aborted; n++) {
      const part = next();
      send(new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
      await sleep(clock, startMs + n * PACKET_MS - clock.monotonicMs(), closed.signal);
    }
  }

  void run();
  return {
    say: (pcm) =>
      new Promise((said) => {
        saying = { pcm, at: 0, said };
      }),
    close: () => closed.abort(),
  };
}
