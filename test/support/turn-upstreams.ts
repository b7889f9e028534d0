import {
  type RealtimeUpstream,
  realtimeUpstream,
  UNAUTHORIZED,
  type UpstreamPeer,
} from './realtime-upstream.ts';
import { deepgramObjection } from './strict/deepgram-rules.ts';

/** Milliseconds of sound that are a word, and of silence behind which a turn is likely over, and is over. */
const WORD_MS = 500;
const LIKELY_MS = 200;
const OVER_MS = 600;
const BYTES_PER_MS = 32;

/** What the peer finds in sound. */
type Found = 'words' | 'likely' | 'resumed' | 'over';

export type TurnUpstream = RealtimeUpstream & {
  /** Runs for every finding, before it is told; false: it is not told. */
  script: (peer: UpstreamPeer, found: Found, text: string) => boolean;
};

/** Finds turns in 16-bit sound at 16 kHz: half a second of it is a word, `w1 w2 …`, silence ends the turn. */
class TurnFinder {
  readonly #tell: (found: Found, text: string) => void;
  #loudMs = 0;
  #silentMs = 0;
  #words = 0;
  #isLikely = false;

  constructor(tell: (found: Found, text: string) => void) {
    this.#tell = tell;
  }

  hear(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += 10 * BYTES_PER_MS) {
      const part = bytes.subarray(at, at + 10 * BYTES_PER_MS);
      this.#step(part.some((byte, index) => index % 2 === 1 && byte > 1 && byte < 254));
    }
  }

  end(): void {
    if (this.#words === 0 && this.#loudMs === 0) return;
    if (this.#words === 0) this.#words = 1;
    this.#over();
  }

  #step(isLoud: boolean): void {
    if (isLoud) {
      if (this.#isLikely) this.#tell('resumed', this.#text);
      this.#isLikely = false;
      this.#silentMs = 0;
      this.#loudMs += 10;
      if (this.#loudMs % WORD_MS !== 0) return;
      this.#words++;
      this.#tell('words', this.#text);
      return;
    }
    this.#silentMs += 10;
    if (this.#words === 0) return;
    if (this.#silentMs === LIKELY_MS) {
      this.#isLikely = true;
      this.#tell('likely', this.#text);
    }
    if (this.#silentMs >= OVER_MS) this.#over();
  }

  #over(): void {
    const text = this.#text;
    this.#words = 0;
    this.#loudMs = 0;
    this.#isLikely = false;
    this.#tell('over', text);
  }

  get #text(): string {
    return Array.from({ length: this.#words }, (_, index) => `w${index + 1}`).join(' ');
  }
}

/**
 * Deepgram's socket that finds the ends of turns, on loopback: https://developers.deepgram.com/docs/flux/state. It refuses queries
 * that the vendor refuses, a wrong credential, half samples, and messages that it does not know.
 */
export async function fluxUpstream(key = 'sk-server'): Promise<TurnUpstream> {
  const upstream = await realtimeUpstream((url, { authorization }) => {
    if (!url.pathname.endsWith('/v2/listen')) return 'this address has no such models';
    if (!/^flux-/.test(url.searchParams.get('model') ?? '')) return 'no such model';
    return deepgramObjection(url) ?? (authorization === `Token ${key}` ? undefined : UNAUTHORIZED);
  });
  const turns = Object.assign(upstream, { script: () => true }) as TurnUpstream;
  upstream.greet = (peer) => {
    const query = new URL(peer.path, upstream.baseUrl).searchParams;
    const isEager = query.has('eager_eot_threshold');
    let sequence_id = 0;
    let turn_index = 0;
    let isBegun = false;
    const say = (message: object) => peer.say({ ...message, sequence_id: sequence_id++ });
    const refuse = (code: string) => {
      say({ type: 'Error', code, description: code });
      peer.ws.close(1008, code);
    };
    const finder = new TurnFinder((found, text) => {
      if (!turns.script(peer, found, text)) return;
      if (!isEager && (found === 'likely' || found === 'resumed')) return;
      const words = isBegun ? 'Update' : 'StartOfTurn';
      const event = { words, likely: 'EagerEndOfTurn', resumed: 'TurnResumed', over: 'EndOfTurn' }[
        found
      ];
      isBegun = found !== 'over';
      say({
        type: 'TurnInfo',
        request_id: 'upstream',
        event,
        turn_index,
        audio_window_start: 0,
        audio_window_end: 1,
        transcript: text,
        words: [],
        end_of_turn_confidence: 0.5,
      });
      if (found === 'over') turn_index++;
    });
    say({ type: 'Connected', request_id: 'upstream' });
    peer.ws.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary && data.length % 2 === 1) refuse('INVALID_AUDIO');
      else if (isBinary) finder.hear(data);
      else {
        const type = typeOf(data);
        if (type === 'ForceEndTurn') finder.end();
        else if (type === 'CloseStream') peer.ws.close(1000);
        else if (type !== 'Configure') refuse('UNPARSABLE_CLIENT_MESSAGE');
      }
    });
  };
  return turns;
}

const AAI_QUERY = new Set([
  'sample_rate',
  'encoding',
  'speech_model',
  'format_turns',
  'end_of_turn_confidence_threshold',
  'min_end_of_turn_silence_when_confident',
  'max_turn_silence',
  'keyterms_prompt',
  'inactivity_timeout',
  'language_detection',
  'vad_threshold',
  'filter_profanity',
]);

const AAI_MODELS = ['universal-streaming-english', 'universal-streaming-multilingual'];

/**
 * AssemblyAI's live transcription on loopback: https://www.assemblyai.com/docs/streaming/message-sequence. It takes the upgrade and
 * then refuses, with an error and its code as the close code: a wrong credential, unknown parameters, frames that are not 50 to
 * 1,000 ms long, sound in JSON, and messages that it does not know.
 */
export async function assemblyUpstream(key = 'sk-server'): Promise<TurnUpstream> {
  const upstream = await realtimeUpstream((url) =>
    url.pathname.endsWith('/v3/ws') ? undefined : 'there is nothing here',
  );
  const turns = Object.assign(upstream, { script: () => true }) as TurnUpstream;
  upstream.greet = (peer) => {
    const refuse = (code: number, error: string) => {
      peer.say({ type: 'Error', error_code: code, error });
      peer.ws.close(code, 'See Error message for details');
    };
    if (peer.headers.authorization !== key) return refuse(1008, 'Unauthorized Connection');
    const query = new URL(peer.path, upstream.baseUrl).searchParams;
    const odd = [...query.keys()].find((name) => !AAI_QUERY.has(name));
    if (odd !== undefined) return refuse(3006, `Unknown parameter ${odd}`);
    if (!AAI_MODELS.includes(query.get('speech_model') ?? '')) return refuse(3006, 'No such model');
    if (query.get('sample_rate') === null) return refuse(3006, 'sample_rate is required');
    let turn_order = 0;
    const finder = new TurnFinder((found, text) => {
      if (!turns.script(peer, found, text)) return;
      const isOver = found === 'over';
      peer.say({
        type: 'Turn',
        turn_order,
        turn_is_formatted: false,
        end_of_turn: isOver,
        transcript: isOver ? text : '',
        end_of_turn_confidence: found === 'likely' || isOver ? 0.8 : 0.1,
        words: text.split(' ').map((word) => ({ text: word, word_is_final: isOver })),
      });
      if (isOver) turn_order++;
    });
    peer.say({ type: 'Begin', id: 'upstream', expires_at: 1 });
    peer.ws.on('message', (data: Buffer, isBinary: boolean) => {
      const ms = data.length / BYTES_PER_MS;
      if (isBinary && (ms < 50 || ms > 1_000)) refuse(3007, 'Input Duration Violation');
      else if (isBinary) finder.hear(data);
      else {
        const type = typeOf(data);
        if (type === 'ForceEndpoint') finder.end();
        else if (type === 'Terminate') {
          peer.say({ type: 'Termination', audio_duration_seconds: 1, session_duration_seconds: 1 });
          peer.ws.close(1000);
        } else if (type !== 'UpdateConfiguration' && type !== 'KeepAlive') {
          refuse(3005, 'Invalid Message Type');
        }
      }
    });
  };
  return turns;
}

function typeOf(data: Buffer): unknown {
  try {
    return (JSON.parse(data.toString()) as { type?: unknown }).type;
  } catch {
    return undefined;
  }
}
