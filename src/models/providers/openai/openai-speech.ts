import type { Clock } from '../../../kernel/clock.ts';
import { SPEECH_LIMITS } from '../../speech/limits.ts';
import { isAudio } from '../audio-type.ts';
import type { OpenedAnswer } from '../open-answer.ts';
import { openPool } from '../open-pool.ts';
import { failed, type Outcome } from '../outcome.ts';
import type { Speech, SpeechCall, SpeechRail } from '../speech-rail.ts';
import { contentTypeOf, type Upstream, type UpstreamLimits } from '../upstream-pool.ts';
import { bearer } from './openai.ts';
import { RelayedSpeech } from './relayed-speech.ts';

/**
 * Creates the speech rail of an upstream in the OpenAI dialect. It has its own bounded pool of connections, so that long files
 * do not delay chats. Redirects are not followed, because they would send the credential elsewhere.
 */
export function createOpenAiSpeechRail(deps: {
  readonly upstream: Upstream;
  readonly clock: Clock;
  readonly limits?: Partial<UpstreamLimits>;
}): SpeechRail & AsyncDisposable {
  const { audioBytes: responseBytes, inFlight, queueBytes } = SPEECH_LIMITS;
  const pool = openPool({
    ...deps,
    path: '/audio/speech',
    credential: bearer,
    // The answer is audio in every format, never JSON.
    headers: { accept: '*/*' },
    limits: { responseBytes, inFlight, queueBytes, ...deps.limits },
  });
  return {
    makes: () => true,
    speak: (call, signal) =>
      pool.opened(
        () => ({ body: writeBody(call), paymentMethod: call.paymentMethod }),
        signal,
        (answer) => speechOf(answer, call),
      ),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

function writeBody({ body, model, wantsUsage }: SpeechCall): string {
  // Every model sends a file and few send events, so events for the caller are made from the file. `stream_format` is sent only
  // to request usage.
  const { stream_format: _, ...asked } = body;
  return JSON.stringify({ ...asked, model, ...(wantsUsage ? { stream_format: 'sse' } : {}) });
}

async function speechOf(answer: OpenedAnswer, { format }: SpeechCall): Promise<Outcome<Speech>> {
  const { status, headers } = answer;
  const said = headers['content-type'] === undefined ? '' : contentTypeOf(answer);
  const inEvents = said.startsWith('text/event-stream');
  if (!inEvents && !isAudio(said)) {
    answer.stop();
    return failed('broken', 'not sound', status);
  }
  const sound = new RelayedSpeech(answer, inEvents);
  const contentType = await sound.begin(said, format);
  return { kind: 'completed', status, contentType, sound };
}
