import type { Clock, TimerHandle } from '../../../kernel/clock.ts';
import type { UpstreamSocket } from '../../../models/providers/realtime/realtime-rail.ts';
import { VOICE_LIMITS } from '../../../voice/limits.ts';
import { Downlink, type RelayClient, type SocketFrame } from '../../../voice/live/downlink.ts';
import { BROKEN, CLIENT_SLOW, UPSTREAM_SLOW } from '../../../voice/live/voice-endings.ts';
import type { TranscriptDialect } from '../../../voice/transcription/dialect.ts';
import type {
  StreamTranscriber,
  StreamTranscriberEvents,
} from '../../../voice/transcription/stream-transcriber.ts';
import { readListenEvent } from './listen-event.ts';

export type UpstreamHearingInput = {
  readonly clock: Clock;
  readonly upstream: UpstreamSocket;
  /** True when the upstream bills the client. The client's messages then pass unchanged. */
  readonly isOwnKey: boolean;
  readonly dialect: Pick<TranscriptDialect, 'relayed' | 'passedOn' | 'brokenOff' | 'keepsUpstream'>;
};

const CLOSE_STREAM = Buffer.from('{"type":"CloseStream"}');
const KEEP_ALIVE = Buffer.from('{"type":"KeepAlive"}');
const NOT_PASSED_ON =
  'The upstream does not know this message, or bills it apart, which needs a key of your own there.';
/** Codes of a normal close. A close frame without a code counts as 1005. */
const NORMAL_CLOSES: ReadonlySet<number> = new Set([1000, 1005]);

/**
 * Transcribes a stream at an upstream of Deepgram's live protocol, whose frames the dialect relays. Billed by the upstream's
 * reported total, and before that by its results. Audio that the upstream never reports before it breaks off is not billed.
 */
export class UpstreamTranscriber implements StreamTranscriber {
  readonly #input: UpstreamHearingInput;
  readonly #stage: StreamTranscriberEvents;
  readonly #downlink: Downlink;
  #isListening = false;
  #hasSound = false;
  #isClosed = false;
  #sentAtMs: number;
  /** Total in seconds that the upstream reported since the last audio; undefined when it has not. */
  #totalSeconds: number | undefined;
  #isBrokenOff = false;
  /** Close code and reason of the upstream, kept while earlier frames wait for the client. */
  #closedAs: { readonly code: number; readonly reason: string } | undefined;
  #finished: Promise<void> | undefined;
  #finishedNow = () => {};
  #keepAlive: TimerHandle | undefined;

  constructor(input: UpstreamHearingInput, stage: StreamTranscriberEvents) {
    const { clock, upstream } = input;
    this.#input = input;
    this.#stage = stage;
    this.#sentAtMs = clock.monotonicMs();
    this.#downlink = new Downlink({
      clock,
      upstream,
      take: (frame) => this.#take(frame),
      wentOn: () => this.#lookOver(),
      stalled: () => stage.failed(CLIENT_SLOW),
    });
  }

  get isOwed(): boolean {
    return this.#hasSound && this.#totalSeconds === undefined && !this.#isBrokenOff;
  }

  get hasReportedTotal(): boolean {
    return this.#totalSeconds !== undefined;
  }

  get heardSeconds(): number {
    if (this.#totalSeconds !== undefined) return this.#totalSeconds;
    // Audio that the upstream's results reported is billed already.
    return this.#isBrokenOff ? 0 : Number.POSITIVE_INFINITY;
  }

  attach(client: RelayClient): void {
    this.#downlink.attach(client);
    this.#listen();
    if (this.#input.dialect.keepsUpstream) this.#keepUpstream();
  }

  detach(): void {
    this.#guard(() => this.#downlink.abandon());
  }

  drained(): void {
    this.#guard(() => this.#downlink.caughtUp());
  }

  hear(bytes: Uint8Array): void {
    this.#hasSound = true;
    this.#totalSeconds = undefined;
    this.#stage.writer.took(bytes, 0);
    this.#send(bytes, true);
  }

  message(type: string, text: string): void {
    const { dialect, isOwnKey } = this.#input;
    const passed = isOwnKey ? text : dialect.passedOn(type, text);
    if (passed === undefined) this.#stage.writer.misunderstood(NOT_PASSED_ON);
    else this.#send(Buffer.from(passed), false);
  }

  keep(): void {
    if (this.#keepAlive === undefined) this.#keepUpstream();
  }

  finish(): Promise<void> {
    this.#finished ??= new Promise((resolve) => {
      this.#finishedNow = resolve;
      this.#listen();
      this.#send(CLOSE_STREAM, false);
      this.#restKeepAlive();
    });
    return this.#finished;
  }

  /** Does nothing, because the upstream has the audio already and is paid for it. */
  giveUp(): void {}

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#restKeepAlive();
    this.#input.upstream.close();
  }

  /** Starts to read the upstream's frames, once, also for a client that left before its socket was attached. */
  #listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    this.#input.upstream.listen({
      frame: (bytes, isBinary) =>
        this.#guard(() => {
          if (!this.#downlink.push({ bytes, isBinary })) this.#stage.failed(BROKEN);
        }),
      closed: (code, reason) => {
        this.#restKeepAlive();
        this.#closedAs = { code, reason };
        this.#lookOver();
      },
    });
  }

  #send(bytes: Uint8Array, isBinary: boolean): void {
    const { clock, upstream } = this.#input;
    upstream.send(bytes, isBinary);
    this.#sentAtMs = clock.monotonicMs();
    if (upstream.unsentBytes > VOICE_LIMITS.relay.untakenBytes) {
      this.#isBrokenOff = true;
      this.#stage.failed(UPSTREAM_SLOW);
    }
  }

  #take(frame: SocketFrame): void {
    if (this.#isClosed) return;
    const event = frame.isBinary ? undefined : readListenEvent(frame.bytes);
    if (event?.kind === 'metadata') this.#totalSeconds = event.seconds ?? undefined;
    if (event?.kind === 'results') this.#stage.heardUpTo(event.endSeconds);
    const relayed = this.#input.dialect.relayed(frame, event);
    if (relayed !== undefined) this.#downlink.send(relayed);
  }

  /** Handles the upstream's close, once all frames from before the close are handled. */
  #lookOver(): void {
    if (this.#closedAs === undefined || this.#downlink.hasWaiting) return;
    const { code, reason } = this.#closedAs;
    this.#closedAs = undefined;
    const isDone = this.#totalSeconds !== undefined || NORMAL_CLOSES.has(code);
    if (this.#finished !== undefined && isDone) {
      this.#finishedNow();
    } else {
      this.#isBrokenOff = true;
      this.#stage.failed(this.#input.dialect.brokenOff(code, reason));
    }
  }

  /** Keeps the upstream open with messages, because it closes a stream after some seconds without audio. */
  #keepUpstream(): void {
    // Reading or sending frames may have ended the stream.
    if (this.#isClosed || this.#finished !== undefined) return;
    const { clock } = this.#input;
    this.#keepAlive = clock.setTimeout(() => {
      if (clock.monotonicMs() - this.#sentAtMs >= VOICE_LIMITS.listen.keepAliveMs) {
        this.#send(KEEP_ALIVE, false);
      }
      this.#keepUpstream();
    }, VOICE_LIMITS.listen.keepAliveMs);
  }

  #restKeepAlive(): void {
    if (this.#keepAlive !== undefined) this.#input.clock.clearTimeout(this.#keepAlive);
  }

  /** Runs work on upstream frames, whose errors no caller would catch. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#stage.failed(BROKEN, error);
    }
  }
}
