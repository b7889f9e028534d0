import { type RealtimeUpstream, realtimeUpstream, type UpstreamPeer } from './realtime-upstream.ts';
import { deepgramObjection } from './strict/deepgram-rules.ts';

/** What an upstream of this protocol does that is not as it should be. */
export type ListenScript = {
  /** The durations that it reports at the end, given the true one. */
  totals: (seconds: number) => readonly unknown[];
  /** How it closes at the end of the audio; null is never. */
  closeCode: number | null;
  /** Runs at each half second of sound that it has heard, with so many seconds in all. */
  heard: (peer: UpstreamPeer, seconds: number) => void;
  /** The same when no more comes. */
  lastWord: (peer: UpstreamPeer, seconds: number) => void;
};

export type ListenUpstream = RealtimeUpstream & { readonly script: ListenScript };

const STEP_SECONDS = 0.5;
const FINAL = { is_final: true, speech_final: true };

/**
 * A peer that speaks Deepgram's live protocol on loopback. It hears a word each half second of sound, `w1 w2 …`, sends
 * them as interim results, as final ones on Finalize, and reports the seconds that it heard at the end. It refuses queries that the
 * vendor refuses.
 */
export async function listenUpstream(): Promise<ListenUpstream> {
  const upstream = await realtimeUpstream(deepgramObjection);
  const script: ListenScript = {
    totals: (seconds) => [seconds],
    closeCode: 1000,
    heard: (peer, seconds) => peer.say(resultOf(seconds, {})),
    lastWord: (peer, seconds) => peer.say(resultOf(seconds, FINAL)),
  };
  upstream.greet = (peer) => {
    const query = new URL(peer.path, upstream.baseUrl).searchParams;
    const width = query.get('encoding') === 'linear16' ? 2 : 1;
    const bytesPerSecond = width * Number(query.get('sample_rate'));
    let bytes = 0;
    let steps = 0;
    peer.ws.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) {
        bytes += data.length;
        while ((steps + 1) * STEP_SECONDS <= bytes / bytesPerSecond) {
          steps++;
          script.heard(peer, steps * STEP_SECONDS);
        }
        return;
      }
      const seconds = bytes / bytesPerSecond;
      const { type } = JSON.parse(data.toString()) as { type: string };
      if (type === 'Finalize') peer.say(resultOf(seconds, { ...FINAL, from_finalize: true }));
      if (type !== 'CloseStream') return;
      script.lastWord(peer, seconds);
      for (const duration of script.totals(seconds)) peer.say(totalOf(duration));
      if (script.closeCode !== null) peer.ws.close(script.closeCode);
    });
  };
  return Object.assign(upstream, { script });
}

/** A result of everything so far. */
export const resultOf = (seconds: number, more: object) => ({
  type: 'Results',
  channel_index: [0, 1],
  start: 0,
  duration: seconds,
  is_final: false,
  speech_final: false,
  ...more,
  channel: { alternatives: [{ transcript: wordsUpTo(seconds), confidence: 0.9, words: [] }] },
  metadata: { request_id: 'upstream', model_info: {}, model_uuid: 'upstream' },
});

export const totalOf = (duration: unknown) => ({
  type: 'Metadata',
  transaction_key: 'deprecated',
  request_id: 'upstream',
  sha256: '0',
  created: '2026-01-01T00:00:00.000Z',
  duration,
  channels: 1,
});

export const wordsUpTo = (seconds: number): string =>
  Array.from({ length: Math.floor(seconds / STEP_SECONDS) }, (_, i) => `w${i + 1}`).join(' ');

/** What a turn of everything so far is told as, on the socket that tells turns. */
const turnOf = (event: string, seconds: number, sequence_id: number) => ({
  type: 'TurnInfo',
  request_id: 'upstream',
  event,
  sequence_id,
  turn_index: 0,
  audio_window_start: 0,
  audio_window_end: seconds,
  transcript: wordsUpTo(seconds),
  words: [],
  end_of_turn_confidence: 0.5,
});

/** Makes a peer speak the protocol that tells turns: no total, and a close without a code at the end. */
export function tellTurns({ script }: Pick<ListenUpstream, 'script'>): void {
  let told = 0;
  script.heard = (peer, seconds) => {
    if (told === 0) peer.say({ type: 'Connected', request_id: 'upstream', sequence_id: told++ });
    peer.say(turnOf(told === 1 ? 'StartOfTurn' : 'Update', seconds, told++));
  };
  script.lastWord = (peer, seconds) => peer.say(turnOf('Update', seconds, told++));
  script.totals = () => [];
  script.closeCode = 1000;
}
