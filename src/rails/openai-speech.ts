import { Pool } from 'undici';
import type { Clock } from '../kernel/clock.ts';
import { LIMITS } from '../kernel/limits.ts';
import { isAudio } from './audio-type.ts';
import { type OpenedAnswer, openAnswer } from './open-answer.ts';
import {
  DEFAULT_LIMITS,
  failureOf,
  type OpenAiRailLimits,
  type OpenAiUpstream,
  oneHeader,
  seconds,
} from './openai.ts';
import { failed, type Outcome } from './outcome.ts';
import { RelayedSpeech } from './relayed-speech.ts';
import type { Speech, SpeechCall, SpeechRail } from './speech-rail.ts';

/**
 * Speech of an upstream that speaks the OpenAI dialect, over its own bounded pool of connections: one that sends long
 * files must not keep questions waiting. Redirects are never followed: they would carry the credential elsewhere.
 */
export function createOpenAiSpeechRail(deps: {
  readonly upstream: OpenAiUpstream;
  readonly clock: Clock;
  readonly limits?: Partial<OpenAiRailLimits>;
}): SpeechRail & AsyncDisposable {
  const { clock, upstream } = deps;
  const { audioBytes, inFlight: most, queueBytes } = LIMITS.speech;
  const sizes = { responseBytes: audioBytes, inFlight: most };
  const limits = { ...DEFAULT_LIMITS, ...sizes, ...deps.limits };
  const base = new URL(upstream.baseUrl);
  const path = `${base.pathname.replace(/\/+$/, '')}/audio/speech${base.search}`;
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (upstream.apiKey !== null) headers.authorization = `Bearer ${upstream.apiKey}`;
  const pool = new Pool(base.origin, {
    connections: limits.connections,
    headersTimeout: limits.firstByteMs,
    bodyTimeout: limits.idleMs,
    connect: { timeout: limits.connectMs },
  });
  let inFlight = 0;

  async function speak(call: SpeechCall, signal: AbortSignal): Promise<Outcome<Speech>> {
    if (inFlight >= limits.inFlight) return failed('busy', 'too much speech in flight', null, 1);
    const body = writeBody(call);
    if (body === undefined) return { kind: 'unfit', detail: 'The request is nested too deeply.' };
    inFlight++;
    const onOver = () => {
      inFlight--;
    };
    const { responseBytes: maxBytes, totalMs } = limits;
    try {
      const request = { path, method: 'POST' as const, headers, body };
      const bounds = { maxBytes, totalMs, queueBytes, clock, signal, onOver };
      return await speechOf(await openAnswer(pool, request, bounds), call);
    } catch (error) {
      return signal.aborted ? { kind: 'aborted' } : failureOf(error);
    }
  }

  return { makes: () => true, speak, [Symbol.asyncDispose]: () => pool.destroy() };
}

/** What can be read may still be too deep to be written; that is the caller's doing and no failure of the upstream. */
function writeBody({ body, model, wantsUsage }: SpeechCall): string | undefined {
  // Every model sends a file, and few send events: those that a caller wants are made of the file.
  const { stream_format: _, ...asked } = body;
  try {
    return JSON.stringify({ ...asked, model, ...(wantsUsage ? { stream_format: 'sse' } : {}) });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

async function speechOf(answer: OpenedAnswer, { format }: SpeechCall): Promise<Outcome<Speech>> {
  const { status, headers } = answer;
  const said = oneHeader(headers['content-type']) ?? '';
  if (status < 200 || status >= 300) return refusalOf(answer, said);
  const inEvents = said.startsWith('text/event-stream');
  if (!inEvents && !isAudio(said)) {
    answer.stop();
    return failed('broken', 'not sound', status);
  }
  const sound = new RelayedSpeech(answer, inEvents);
  const contentType = await sound.begin(said, format);
  return { kind: 'completed', status, contentType, sound };
}

async function refusalOf(answer: OpenedAnswer, said: string): Promise<Outcome<Speech>> {
  const { status, headers, body } = answer;
  if (status < 400 || status >= 500 || status === 429) {
    answer.stop();
    if (status !== 429) return failed('broken', `status ${status}`, status);
    return failed('rate_limited', 'rate limited', status, seconds(headers['retry-after']));
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    // Leaving the loop drops the request.
    if (bytes > LIMITS.upstreamResponseBytes) return failed('oversize', 'the answer is too large');
    chunks.push(chunk);
  }
  const contentType = said === '' ? 'application/json' : said;
  return { kind: 'declined', status, body: Buffer.concat(chunks, bytes), contentType };
}
