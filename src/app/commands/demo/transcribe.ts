import { type Clock, sleep } from '../../../kernel/clock.ts';
import { openMicrophone } from './microphone.ts';
import { openSocket } from './socket.ts';

type TranscriptEvent = {
  readonly type: 'transcript' | 'error';
  readonly text?: string;
  readonly is_final?: boolean;
  readonly speech_final?: boolean;
  readonly code?: string;
  readonly message?: string;
};

export type Utterance = { readonly pcm: Int16Array; readonly said: string };

const SAMPLE_RATE_HZ = 16_000;
/** Milliseconds of silence after an utterance, long enough for the server to detect the utterance's end. */
const PAUSE_MS = 1_200;
/** Most pauses that the demo waits for a transcript, since a busy machine needs longer. */
const MOST_PAUSES = 10;
/** Amplitude below which a sample is not speech: about one percent of full scale. */
const SPEECH_LEVEL = 300;

/**
 * Returns the index behind the last audible sample, so that latency counts from the end of speech and not from the end of the
 * file.
 */
function speechEnd(pcm: Int16Array): number {
  let end = pcm.length;
  while (end > 0 && Math.abs(pcm[end - 1] as number) < SPEECH_LEVEL) end--;
  return end;
}

/** Streams recordings at real-time pace, and prints each transcript and its delay after the end of speech. */
export async function transcribe(
  clock: Clock,
  target: { wsUrl: string; agentKey: string },
  utterances: readonly Utterance[],
  said: (line: string) => void,
): Promise<void> {
  let speechEndedMs = 0;
  let finals: string[] = [];
  const failures: string[] = [];
  const socket = await openSocket(
    `${target.wsUrl}/v1/audio/transcriptions/stream?model=local/pocketsphinx&encoding=linear16&sample_rate=${SAMPLE_RATE_HZ}`,
    target.agentKey,
    (text) => {
      const event = JSON.parse(text) as TranscriptEvent;
      if (event.type === 'error') failures.push(`${event.code}: ${event.message}`);
      if (event.text === undefined || event.text === '') return;
      if (event.is_final !== true) return said(`  … ${event.text}`);
      finals.push(event.text);
      const lateMs = Math.round(clock.monotonicMs() - speechEndedMs);
      said(`  = ${event.text}   [${lateMs} ms after the speaker stopped]`);
    },
  );

  const microphone = openMicrophone(clock, SAMPLE_RATE_HZ, (bytes) => socket.send(bytes));
  for (const { pcm, said: words } of utterances) {
    finals = [];
    said(`  a reader says: "${words}"`);
    await microphone.say(pcm.subarray(0, speechEnd(pcm)));
    speechEndedMs = clock.monotonicMs();
    let pauses = 0;
    do await sleep(clock, PAUSE_MS);
    while (finals.length === 0 && failures.length === 0 && ++pauses < MOST_PAUSES);
    if (finals.length === 0) failures.push('no final transcript came after the sentence');
    if (failures.length > 0) throw new Error(failures.join('; '));
  }
  microphone.close();
  socket.send(JSON.stringify({ type: 'close_stream' }));
  const code = await socket.closed;
  if (code !== 1_000) throw new Error(`the transcription socket closed ${code}`);
}
