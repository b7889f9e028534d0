import { type Clock, sleep, within } from '../../../kernel/clock.ts';
import { type Microphone, openMicrophone } from './microphone.ts';
import { type DemoSocket, openSocket } from './socket.ts';

/** Sample rate of `audio/pcm` on the realtime socket. */
const SAMPLE_RATE_HZ = 24_000;
const BYTES_PER_MS = (SAMPLE_RATE_HZ * 2) / 1_000;
const ANSWER_TIMEOUT_MS = 15_000;

type ServerEvent = {
  readonly type: string;
  readonly item_id?: string;
  readonly transcript?: string;
  readonly delta?: string;
  readonly error?: { readonly message: string };
  readonly item?: { readonly id: string; readonly content?: readonly { transcript?: string }[] };
  readonly response?: {
    readonly status: string;
    readonly metadata?: Readonly<Record<string, string>> | null;
  };
};

export type Turn = {
  readonly heard: string;
  readonly answer: string;
  readonly pcm: Int16Array;
  readonly sampleRateHz: number;
  /** Milliseconds from the end of the caller's speech to each stage of the turn. */
  readonly stages: Readonly<Record<string, number>>;
  readonly costRaw: bigint;
};

/** An answer that the caller interrupted, and the caller's words. */
export type CutTurn = {
  readonly turn: Turn;
  /** Milliseconds of the answer that were played, and its words heard by then. */
  readonly playedMs: number;
  readonly heardWords: string;
  readonly next: Turn;
};

const STAGES: Readonly<Record<string, string>> = {
  'input_audio_buffer.speech_stopped': 'end of speech noticed',
  'conversation.item.input_audio_transcription.completed': 'words understood',
  'response.created': 'answer begun',
  'response.output_audio.delta': 'first sound',
  'response.done': 'answer complete',
};

/** State of one turn that is coming in. */
class Incoming {
  readonly stages: Record<string, number> = {};
  readonly sound: Buffer[] = [];
  heard = '';
  answer = '';
  itemId = '';
  costRaw = 0n;
  firstSoundMs: number | undefined;

  get soundMs(): number {
    return this.sound.reduce((ms, { byteLength }) => ms + byteLength / BYTES_PER_MS, 0);
  }

  take(event: ServerEvent, nowMs: number): void {
    switch (event.type) {
      case 'conversation.item.input_audio_transcription.completed':
        this.heard += event.transcript ?? '';
        break;
      case 'response.output_audio.delta':
        this.firstSoundMs ??= nowMs;
        this.itemId = event.item_id ?? this.itemId;
        this.sound.push(Buffer.from(event.delta ?? '', 'base64'));
        break;
      case 'response.output_audio_transcript.delta':
        this.answer += event.delta ?? '';
        break;
      case 'response.done':
        this.costRaw = BigInt(event.response?.metadata?.cost_raw ?? 0);
        break;
    }
  }

  finished(): Turn {
    const bytes = new Uint8Array(Buffer.concat(this.sound));
    const pcm = new Int16Array(bytes.buffer, 0, bytes.byteLength >> 1);
    const { heard, answer, stages, costRaw } = this;
    const words = { heard: heard.trim(), answer: answer.trim() };
    return { ...words, pcm, sampleRateHz: SAMPLE_RATE_HZ, stages, costRaw };
  }
}

/** A spoken conversation over the realtime socket, with a microphone that is always open and a player that can be stopped. */
export class Caller {
  readonly #clock: Clock;
  readonly #socket: DemoSocket;
  readonly #microphone: Microphone;
  #turn = new Incoming();
  #spokenMs = 0;
  #waiting: { readonly type: string; readonly came: (event: ServerEvent) => void }[] = [];
  #problem: string | undefined;

  private constructor(clock: Clock, socket: DemoSocket) {
    this.#clock = clock;
    this.#socket = socket;
    this.#microphone = openMicrophone(clock, SAMPLE_RATE_HZ, (bytes) => {
      const audio = Buffer.from(bytes).toString('base64');
      this.#send({ type: 'input_audio_buffer.append', audio });
    });
  }

  static async call(clock: Clock, target: { wsUrl: string; agentKey: string }): Promise<Caller> {
    let hear = (_: string) => {};
    const url = `${target.wsUrl}/v1/realtime?model=local/realtime`;
    const socket = await openSocket(url, target.agentKey, (text) => hear(text));
    const caller = new Caller(clock, socket);
    hear = (text) => caller.#hear(text);
    void socket.closed.then((code) => caller.#fail(`the realtime socket closed with ${code}`));
    return caller;
  }

  /** Speaks a question and waits for the whole answer. */
  async ask(question: Int16Array): Promise<Turn> {
    const answered = this.#next('response.done');
    await this.#say(question);
    await answered;
    return this.#turn.finished();
  }

  /** Speaks a question, and interrupts the answer after `afterMs` of playback. */
  async cutIn(question: Int16Array, afterMs: number, words: Int16Array): Promise<CutTurn> {
    await this.ask(question);
    const turn = this.#turn;
    // Audio arrives faster than it is played: all of it may have arrived when the caller has heard its first seconds.
    const begunMs = turn.firstSoundMs ?? this.#clock.monotonicMs();
    await sleep(this.#clock, begunMs + afterMs - this.#clock.monotonicMs());
    const noticed = this.#next('input_audio_buffer.speech_started');
    const speaking = this.#microphone.say(words);
    await noticed;
    // The player stops here. The server gets the position, so that the history has only the words that were played.
    const playedMs = Math.floor(
      Math.min(this.#clock.monotonicMs() - (turn.firstSoundMs ?? 0), turn.soundMs),
    );
    const [cut, retrieved] = ['conversation.item.truncated', 'conversation.item.retrieved'];
    const waits = [this.#next(cut), this.#next(retrieved)] as const;
    const item_id = turn.itemId;
    const at = { item_id, content_index: 0, audio_end_ms: playedMs };
    this.#send({ type: 'conversation.item.truncate', ...at });
    this.#send({ type: 'conversation.item.retrieve', item_id });
    const answered = this.#next('response.done');
    await speaking;
    this.#spokenMs = this.#clock.monotonicMs();
    this.#turn = new Incoming();
    const [, { item }] = await Promise.all(waits);
    await answered;
    const heardWords = item?.content?.[0]?.transcript ?? '';
    return { turn: turn.finished(), playedMs, heardWords, next: this.#turn.finished() };
  }

  async hangUp(): Promise<void> {
    this.#microphone.close();
    this.#problem = 'the caller has hung up';
    this.#socket.close();
    await this.#socket.closed;
  }

  async #say(pcm: Int16Array): Promise<void> {
    this.#turn = new Incoming();
    await this.#microphone.say(pcm);
    this.#spokenMs = this.#clock.monotonicMs();
  }

  #send(event: object): void {
    this.#socket.send(JSON.stringify(event));
  }

  #hear(text: string): void {
    const event = JSON.parse(text) as ServerEvent;
    const nowMs = this.#clock.monotonicMs();
    const stage = STAGES[event.type];
    if (stage !== undefined) this.#turn.stages[stage] ??= Math.round(nowMs - this.#spokenMs);
    this.#turn.take(event, nowMs);
    if (event.type === 'error') this.#fail(event.error?.message ?? 'the server reported an error');
    const due = this.#waiting.filter(({ type }) => type === event.type);
    this.#waiting = this.#waiting.filter(({ type }) => type !== event.type);
    for (const { came } of due) came(event);
  }

  #fail(problem: string): void {
    this.#problem ??= problem;
    for (const { came } of this.#waiting.splice(0)) came({ type: 'failed' });
  }

  /** Resolves with the next event of a type. Rejects when the conversation fails first or the event does not come in time. */
  #next(type: string): Promise<ServerEvent> {
    const event = this.#await(type);
    // The event may fail while the demo is still speaking. This handler avoids an unhandled rejection; the later `await` throws
    // the failure.
    event.catch(() => {});
    return event;
  }

  async #await(type: string): Promise<ServerEvent> {
    const coming = new Promise<ServerEvent>((came) => void this.#waiting.push({ type, came }));
    const event = await within(this.#clock, ANSWER_TIMEOUT_MS, coming, () => {
      throw new Error(`no ${type} came`);
    });
    if (event.type !== type) throw new Error(this.#problem ?? 'the conversation ended');
    return event;
  }
}
