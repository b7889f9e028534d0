import { type RealtimeUpstream, realtimeUpstream, type UpstreamPeer } from './realtime-upstream.ts';

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
 * them as interim results, as final ones on Finalize, and reports the seconds that it heard at the end.
 */
export async function listenUpstream(): Promise<ListenUpstream> {
  const upstream = await realtimeUpstream();
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
  ...{ type: 'Results', channel_index: [0, 1], start: 0, duration: seconds },
  ...{ is_final: false, speech_final: false, ...more },
  channel: { alternatives: [{ transcript: wordsUpTo(seconds), confidence: 0.9, words: [] }] },
  metadata: { request_id: 'upstream', model_info: {}, model_uuid: 'upstream' },
});

export const totalOf = (duration: unknown) => ({
  ...{ type: 'Metadata', transaction_key: 'deprecated', request_id: 'upstream', sha256: '0' },
  ...{ created: '2026-01-01T00:00:00.000Z', duration, channels: 1 },
});

export const wordsUpTo = (seconds: number): string =>
  Array.from({ length: Math.floor(seconds / STEP_SECONDS) }, (_, i) => `w${i + 1}`).join(' ');
