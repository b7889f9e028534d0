import { monitorEventLoopDelay } from 'node:perf_hooks';
import { HEARING_WINDOW } from '../media/hearing.ts';
import type { LocalEngines, SttStream } from '../src/engines/engine.ts';
import { ENGINE_LIMITS } from '../src/engines/limits.ts';
import { createLocalEngines } from '../src/engines/local-engines.ts';
import { sleep, systemClock } from '../src/kernel/clock.ts';
import { silentLog } from '../src/kernel/log.ts';
import { systemRandom } from '../src/kernel/random.ts';
import {
  LIBRIVOX,
  listening,
  loadRecording,
  overTelephone,
  pushFrames,
  wordCount,
  wordErrors,
} from '../test/support/speech.ts';
import type { BenchRow } from './bench-row.ts';

const LISTEN_SECONDS = 8;
const facts = { agentName: 'bench', spendableRaw: 1_000_000n, heldRaw: 0n, spentRaw: 0n };

const row = (what: string, value: number, unit: string, note?: string): BenchRow => ({
  bar: 'engines',
  what,
  value,
  unit,
  ...(note === undefined ? {} : { note }),
});

/** What the engines of this process hear, how fast they are, and what they cost the media loop. */
export async function benchEngines(): Promise<BenchRow[]> {
  const engines = createLocalEngines({
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
  });
  try {
    return [
      ...(await benchRecognition(engines)),
      ...(await benchSpeech(engines)),
      ...(await benchText(engines)),
      ...(await benchVad(engines)),
      ...(await benchMainLoop(engines)),
    ];
  } finally {
    await engines[Symbol.asyncDispose]();
  }
}

async function benchRecognition(engines: LocalEngines): Promise<BenchRow[]> {
  const started = performance.now();
  const first = await engines.stt.pocketsphinx.open({
    sampleRateHz: 16_000,
    listener: listening().listener,
  });
  const coldMs = performance.now() - started;
  first.close();
  const wide = await recogniseAll(engines, 16_000, (pcm) => pcm);
  const telephone = await recogniseAll(engines, 8_000, overTelephone);
  return [
    row('local/pocketsphinx, first stream opens after', coldMs, 'ms'),
    row('word errors, read English, 16 kHz', wide.errors * 100, '%'),
    row('word errors, read English, telephone', telephone.errors * 100, '%'),
    row('decoding time over audio time', telephone.rate, '×', 'fed at once'),
    row('final transcript after the last audio, worst', wide.finalMs, 'ms', 'when not behind'),
  ];
}

async function recogniseAll(
  engines: LocalEngines,
  sampleRateHz: number,
  over: (pcm: Int16Array) => Int16Array,
) {
  let errors = 0;
  let words = 0;
  let spentMs = 0;
  let audioMs = 0;
  let finalMs = 0;
  for (const { file, text } of LIBRIVOX) {
    const transcriber = listening();
    const { listener } = transcriber;
    const stream = await engines.stt.pocketsphinx.open({ sampleRateHz, listener });
    const pcm = over(loadRecording(file));
    const head = pcm.length - sampleRateHz / 10;
    const started = performance.now();
    pushFrames(stream, pcm.subarray(0, head), sampleRateHz);
    await drained(transcriber);
    spentMs += performance.now() - started;
    const ended = performance.now();
    pushFrames(stream, pcm.subarray(head), sampleRateHz);
    await stream.endUtterance();
    finalMs = Math.max(finalMs, performance.now() - ended);
    stream.close();
    audioMs += (pcm.length / sampleRateHz) * 1_000;
    errors += wordErrors(text, transcriber.finals().join(' '));
    words += wordCount(text);
  }
  return { errors: errors / words, rate: spentMs / audioMs, finalMs };
}

/** Waits until partial transcripts have stopped coming. */
async function drained(transcriber: ReturnType<typeof listening>): Promise<void> {
  for (let seen = -1; seen !== transcriber.transcripts.length; ) {
    seen = transcriber.transcripts.length;
    await sleep(systemClock, 300);
  }
}

async function benchSpeech(engines: LocalEngines): Promise<BenchRow[]> {
  const text = 'Your balance is 4 dollars and 99 cents. Nothing of yours is on hold. Goodbye.';
  const times: number[] = [];
  let seconds = 0;
  let spentMs = 0;
  for (let i = 0; i < 6; i++) {
    const started = performance.now();
    let first = true;
    const request = { text, voice: 'rms', signal: new AbortController().signal };
    for await (const { pcm, sampleRateHz } of engines.tts.flite.speak(request)) {
      if (first) times.push(performance.now() - started);
      first = false;
      seconds += pcm.length / sampleRateHz;
    }
    spentMs += performance.now() - started;
  }
  return [
    row('local/flite, first sound, cold', times[0] ?? 0, 'ms'),
    row('local/flite, first sound, warm, worst of 5', Math.max(...times.slice(1)), 'ms'),
    row('synthesis time over audio time', spentMs / 1_000 / seconds, '×'),
  ];
}

async function benchText(engines: LocalEngines): Promise<BenchRow[]> {
  const ask = async (content: string) => {
    const started = performance.now();
    await engines.guide.reply({
      messages: [{ role: 'user', content }],
      facts,
      maxTokens: 100,
      nowMs: 0,
    });
    return performance.now() - started;
  };
  const cold = await ask('how can I put more money in');
  const fact = await ask('what is my balance');
  const found = await ask('which voices are there');
  const started = performance.now();
  await engines.embedding.useLite.embed(Array.from({ length: 64 }, (_, i) => `sentence ${i}`));
  const embedMs = (performance.now() - started) / 64;
  return [
    row('local/guide, first answer', cold, 'ms', 'loads the model and the corpus'),
    row('local/guide, an own fact', fact, 'ms'),
    row('local/guide, a looked-up answer', found, 'ms'),
    row('local/use-lite, a text in batches', embedMs, 'ms'),
  ];
}

async function benchVad(engines: LocalEngines): Promise<BenchRow[]> {
  const stream = await engines.vad.open();
  const pcm = loadRecording('librivox-0870.wav');
  const started = performance.now();
  let windows = 0;
  for (let at = 0; at + HEARING_WINDOW <= pcm.length; at += HEARING_WINDOW, windows++) {
    await stream.probability(pcm.subarray(at, at + HEARING_WINDOW));
  }
  stream.close();
  return [
    row('vad, a 32 ms window, there and back', (performance.now() - started) / windows, 'ms'),
  ];
}

/** The delay of this loop at rest, and with every decoder of the pool at work and frames flowing. */
async function benchMainLoop(engines: LocalEngines): Promise<BenchRow[]> {
  const idle = await loopDelay(async () => sleep(systemClock, LISTEN_SECONDS * 500));
  const sound = overTelephone(loadRecording('librivox-0870.wav'));
  const streams: SttStream[] = [];
  for (let i = 0; i < ENGINE_LIMITS.decoder.most; i++) {
    const { listener } = listening();
    streams.push(await engines.stt.pocketsphinx.open({ sampleRateHz: 8_000, listener }));
  }
  // Well ahead of real time, so that no decoder ever waits for sound.
  for (const stream of streams) for (let i = 0; i < 8; i++) stream.push(sound);
  let pushMs = 0;
  let frames = 0;
  const busy = await loopDelay(async () => {
    const end = performance.now() + LISTEN_SECONDS * 1_000;
    for (let at = 0; performance.now() < end; at = (at + 160) % (sound.length - 160)) {
      const started = performance.now();
      for (const stream of streams) stream.push(sound.subarray(at, at + 160));
      pushMs += performance.now() - started;
      frames += streams.length;
      await sleep(systemClock, 20);
    }
  });
  for (const stream of streams) stream.close();
  const note = `${streams.length} decoders busy`;
  return [
    row('event-loop delay at rest, p99', idle, 'ms'),
    row('event-loop delay, pool saturated, p99', busy, 'ms', note),
    row('a 20 ms telephone frame into a stream', (pushMs / frames) * 1_000, 'µs', note),
  ];
}

async function loopDelay(work: () => Promise<void>): Promise<number> {
  const resolutionMs = 5;
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  await work();
  delay.disable();
  return delay.percentile(99) / 1e6 - resolutionMs;
}
