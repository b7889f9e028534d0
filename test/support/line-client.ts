import type { Ending } from '../../machines/transcription-stream.ts';
import type { AnswerClient, Played, VoiceClient } from '../../src/voice/session/voice-client.ts';

/** Frames that the carrier may have before it has played them. */
const MOST_UNPLAYED = 250;
const FRAME_BYTES = 160;

/** A telephone line: frames of 20 ms mu-law both ways; behind each goes a mark, which comes back when the frame was played. */
export class LineClient implements VoiceClient {
  readonly sent: ({ media: Uint8Array } | { clear: true })[] = [];
  readonly transcripts: string[] = [];
  ended: Ending | undefined;
  lastEventAtMs = 0;
  /** Marks that have not come back, and the last one that has. */
  #unplayed: Played[] = [];
  #heard: Played | undefined;

  /** The carrier has played the next frame. False: it has no other. */
  played(): boolean {
    this.#heard = this.#unplayed.shift() ?? this.#heard;
    return this.#unplayed.length > 0;
  }

  batch = (work: () => void) => work();
  speechStarted() {}
  utterance() {}
  interim = (_: string, text: string) => this.transcripts.push(`${text}…`);
  transcript = (_: string, { text }: { text: string }) => this.transcripts.push(text);
  transcriberFailed() {}

  get hasRoom(): boolean {
    return this.#unplayed.length < MOST_UNPLAYED;
  }

  async room(signal: AbortSignal): Promise<void> {
    while (!this.hasRoom && !signal.aborted) await new Promise((resolve) => setImmediate(resolve));
  }

  createAnswer(): AnswerClient {
    let [itemId, heardMs, rest] = ['', 0, Buffer.alloc(0)];
    const audio = (bytes: Uint8Array) => {
      rest = Buffer.concat([rest, bytes]);
      for (; rest.length >= FRAME_BYTES; rest = rest.subarray(FRAME_BYTES)) {
        this.sent.push({ media: rest.subarray(0, FRAME_BYTES) });
        heardMs += 20;
        this.#unplayed.push({ itemId, heardMs });
      }
    };
    const itemAdded: AnswerClient['itemAdded'] = ({ item: { id } }) => {
      itemId = id;
    };
    // What fills no frame is sent with silence behind it.
    const itemDone = () => rest.length > 0 && audio(Buffer.alloc(FRAME_BYTES - rest.length, 0xff));
    return { id: 'answer', created() {}, itemAdded, text() {}, audio, itemDone, done() {} };
  }

  clearPlayback(): Played[] {
    const [next] = this.#unplayed.splice(0);
    if (next === undefined) return [];
    this.sent.push({ clear: true });
    return [this.#heard?.itemId === next.itemId ? this.#heard : { ...next, heardMs: 0 }];
  }

  end(ending: Ending): void {
    this.ended = ending;
  }
}
