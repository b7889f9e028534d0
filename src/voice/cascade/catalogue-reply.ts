import type { CutReason } from '../../../machines/voice-turn.ts';
import { isLongJson } from '../../kernel/json/parse-json.ts';
import { turnForLongWork } from '../../kernel/long-work.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { Source } from '../../models/catalogue/catalogue.ts';
import { meterChat } from '../../models/chat/chat-price.ts';
import type { ChatRequest } from '../../models/chat/chat-request.ts';
import type { ChatStream, TokenUsage } from '../../models/providers/chat-rail.ts';
import { breakTypeOf } from '../../models/routing/attempt-span.ts';
import type { Span } from '../../platform/tracing/span.ts';
import {
  type LlmPiece,
  type LlmReply,
  StageFailed,
  type TurnCharge,
} from '../session/voice-pipeline.ts';
import { ChatPieces } from './chat-pieces.ts';
import type { Share, UnbilledCharge } from './unbilled-charges.ts';

export type OpenedChat = {
  readonly stream: ChatStream;
  readonly source: Source;
  readonly share: Pick<Share, 'open'>;
  /** Amount paid for this call on a source that is paid per call. */
  readonly paidRaw?: bigint | undefined;
  readonly span?: Span | undefined;
};

/**
 * The answer of a chat model at an upstream, requested at once. It is charged from its first word on: by the upstream's usage,
 * or by the length of its text when the upstream reports no usage.
 */
export class CatalogueReply implements LlmReply, UnbilledCharge {
  readonly #body: ChatRequest;
  readonly #most: TokenUsage;
  readonly #opening: Promise<OpenedChat | undefined>;
  readonly #pieces = new ChatPieces();
  readonly #waiting: LlmPiece[] = [];
  #opened: OpenedChat | undefined;
  #failure: StageFailed | undefined;
  #brokenBy: string | undefined;
  #isRefused = false;
  #wake = () => {};
  readonly isForReading = true;
  isOver = false;
  /** True when this is a speculative answer that was not used. */
  isUnused = false;

  constructor(options: {
    readonly body: ChatRequest;
    /** Upper bound of the usage, which the answer's hold covers. */
    readonly most: TokenUsage;
    /** Resolves to undefined when the request was aborted. Rejects with StageFailed. */
    readonly open: () => Promise<OpenedChat | undefined>;
    /** Signal that stops the answer and all further purchases for it. */
    readonly signal: StopSignal;
  }) {
    const { open, signal } = options;
    this.#body = options.body;
    this.#most = options.most;
    this.#opening = open().then((opened) => {
      this.#opened = opened;
      if (opened === undefined) return undefined;
      opened.share.open(this);
      if (signal.aborted) this.#stop();
      else void this.#readAll(opened.stream);
      return opened;
    });
    this.#opening.catch(() => {
      this.#isRefused = true;
    });
    signal.addEventListener('abort', () => this.#stop(), { once: true });
  }

  get hasFailed(): boolean {
    return this.#isRefused || this.#failure !== undefined;
  }

  get cut(): CutReason | undefined {
    return this.#pieces.cut;
  }

  get tokens() {
    const tokens = this.#metered()?.tokens;
    return {
      input: tokens?.inputTokens ?? 0,
      cached: tokens?.cachedTokens ?? 0,
      output: tokens?.outputTokens ?? 0,
    };
  }

  async next(): Promise<LlmPiece | undefined> {
    await this.#opening;
    for (;;) {
      const piece = this.#waiting.shift();
      if (piece !== undefined) return piece;
      if (this.#failure !== undefined) throw this.#failure;
      if (this.isOver || this.#opened === undefined) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  bought(): TurnCharge | undefined {
    const metered = this.#metered();
    if (metered === undefined || this.#opened === undefined) return undefined;
    return {
      source: this.#opened.source,
      model: this.#body.model,
      usage: metered.usage,
      span: this.#opened.span,
      brokenBy: this.#brokenBy,
      noted: metered,
      paidRaw: this.#opened.paidRaw,
      reported: metered.reported,
      isEstimated: metered.estimated || undefined,
      isSpeculated: this.isUnused || undefined,
    };
  }

  /** Reads the stream ahead of the synthesis, so that all text written up to a stop is known. */
  async #readAll(stream: ChatStream): Promise<void> {
    try {
      for (let chunk = await stream.next(); chunk !== undefined; chunk = await stream.next()) {
        if (isLongJson(chunk)) await turnForLongWork();
        this.#take(this.#pieces.push(chunk));
        if (this.#pieces.isFull) {
          stream.stop();
          break;
        }
      }
      if (!this.isOver) this.#take([...this.#pieces.end(), ...this.#pieces.broken]);
    } catch (cause) {
      stream.stop();
      const message = 'The model broke off in the middle of its answer.';
      if (!this.isOver) {
        this.#failure = new StageFailed('upstream_broke_off', message, { cause });
        this.#brokenBy = breakTypeOf(cause);
      }
    }
    this.#end();
  }

  #take(pieces: readonly LlmPiece[]): void {
    this.#waiting.push(...pieces);
    this.#wake();
  }

  #stop(): void {
    this.#opened?.stream.stop();
    this.#end();
  }

  #end(): void {
    this.isOver = true;
    this.#opened?.span?.stop();
    this.#wake();
  }

  #metered() {
    if (this.#opened === undefined) return undefined;
    const { source, stream } = this.#opened;
    return meterChat(this.#body, stream.metered(), source, this.#most);
  }
}
