import { type Clock, sleep } from '../../../kernel/clock.ts';

/** Interval at which a microphone delivers sound. */
const PACKET_MS = 20;

/** An open microphone, which sends silence between utterances. */
export type Microphone = {
  /** Sends an utterance. Resolves when all of its audio was sent. */
  say(pcm: Int16Array): Promise<void>;
  close(): void;
};

/** Opens a microphone that passes on packets of 20 ms. Each packet has its own due time, so that delays do not add up. */
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
