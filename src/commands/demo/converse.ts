import type { Clock } from '../../kernel/clock.ts';
import { openSocket, speakAtRealTime } from './socket.ts';

/** The rate of `audio/pcm` on the realtime socket. */
const SAMPLE_RATE_HZ = 24_000;
const ANSWER_TIMEOUT_MS = 15_000;
const TRAILING_SILENCE_SECONDS = 1;

type ServerEvent = {
  readonly type: string;
  readonly transcript?: string;
  readonly delta?: string;
  readonly error?: { readonly message: string };
  readonly response?: { readonly status: string; readonly usage?: unknown };
};

export type Answer = {
  readonly heard: string;
  readonly answer: string;
  readonly pcm: Int16Array;
  readonly sampleRateHz: number;
  /** Milliseconds from the moment the caller stopped speaking to each stage. */
  readonly stages: Readonly<Record<string, number>>;
};

const STAGES: Readonly<Record<string, string>> = {
  'input_audio_buffer.speech_stopped': 'end of speech noticed',
  'conversation.item.input_audio_transcription.completed': 'words understood',
  'response.created': 'answer begun',
  'response.output_audio.delta': 'first sound',
  'response.done': 'answer complete',
};

/** Asks one spoken question over the realtime socket, at real-time pace, and collects the spoken answer. */
export async function converse(
  clock: Clock,
  target: { wsUrl: string; agentKey: string },
  question: Int16Array,
): Promise<Answer> {
  const stages: Record<string, number> = {};
  const sound: Buffer[] = [];
  let heard = '';
  let answer = '';
  let speechEndedMs = 0;
  let finish: (problem?: string) => void = () => {};
  const done = new Promise<void>((resolve, reject) => {
    finish = (problem) => (problem === undefined ? resolve() : reject(new Error(problem)));
  });
  // It may fail while the question is still being spoken; whoever awaits it below is told.
  done.catch(() => {});

  const socket = await openSocket(
    `${target.wsUrl}/v1/realtime?model=local/realtime`,
    target.agentKey,
    (text) => {
      const event = JSON.parse(text) as ServerEvent;
      const stage = STAGES[event.type];
      if (stage !== undefined) stages[stage] ??= Math.round(clock.monotonicMs() - speechEndedMs);
      if (event.type === 'conversation.item.input_audio_transcription.completed')
        heard += event.transcript ?? '';
      if (event.type === 'response.output_audio.delta')
        sound.push(Buffer.from(event.delta ?? '', 'base64'));
      if (event.type === 'response.output_audio_transcript.delta') answer += event.delta ?? '';
      if (event.type === 'error') finish(event.error?.message ?? 'the server reported an error');
      if (event.type === 'response.done')
        finish(
          event.response?.status === 'completed'
            ? undefined
            : `the response was ${event.response?.status}`,
        );
    },
  );
  void socket.closed.then((code) => finish(`the realtime socket closed with ${code}`));
  const append = (bytes: Uint8Array) =>
    socket.send(
      JSON.stringify({
        type: 'input_audio_buffer.append',
        audio: Buffer.from(bytes).toString('base64'),
      }),
    );

  await speakAtRealTime(clock, question, SAMPLE_RATE_HZ, append);
  speechEndedMs = clock.monotonicMs();
  const timer = clock.setTimeout(() => finish('no answer came'), ANSWER_TIMEOUT_MS);
  const silence = speakAtRealTime(
    clock,
    new Int16Array(TRAILING_SILENCE_SECONDS * SAMPLE_RATE_HZ),
    SAMPLE_RATE_HZ,
    append,
  );
  await Promise.all([done, silence]).finally(() => clock.clearTimeout(timer));
  socket.close();
  await socket.closed;
  const bytes = new Uint8Array(Buffer.concat(sound));
  return {
    heard,
    answer,
    pcm: new Int16Array(bytes.buffer, 0, bytes.byteLength >> 1),
    sampleRateHz: SAMPLE_RATE_HZ,
    stages,
  };
}
