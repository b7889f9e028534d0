import { DRAINING } from '../../../../machines/draining.ts';
import { requestErrors } from '../../../http/route/errors.ts';
import type { Clock, TimerHandle } from '../../../kernel/clock.ts';
import { isLongJson } from '../../../kernel/json/parse-json.ts';
import type { Log } from '../../../kernel/log.ts';
import { turnForLongWork } from '../../../kernel/long-work.ts';
import type { Relayed } from '../../purchase/answer.ts';
import type { StreamedAnswer } from '../../purchase/answer-events.ts';
import type { Buyer } from '../../purchase/buyer.ts';
import { PacedClient, type PacedSocket } from '../../purchase/paced-client.ts';
import type { RoutingPreferences } from '../../routing/routing-preferences.ts';
import { responseErrors } from '../errors.ts';
import { RESPONSES_LIMITS } from '../limits.ts';
import type { Responses } from '../responses.ts';
import type { ResponsesRequest } from '../responses-request.ts';
import { type ConnectionBytes, ConnectionMemory } from './connection-memory.ts';
import { eventTexts } from './event-texts.ts';

type ConnectionSocket = PacedSocket & { close(code: number, reason?: string): void };

/** Content of a `response.create` message. */
export type AskedResponse = {
  readonly body: ResponsesRequest;
  readonly preferences: RoutingPreferences | undefined;
  readonly tellsCost: boolean;
};

type Deps = {
  readonly clock: Clock;
  readonly log: Log;
  readonly responses: Pick<Responses, 'create'>;
  /** Bytes that the connections of this process remember together. */
  readonly remembered: ConnectionBytes;
  /** Counts a message as one request against the rate limit. Throws the 429. */
  readonly admit: () => Promise<void> | undefined;
  /** Reads a message. Throws the refusal of a message that requests no response. */
  readonly read: (text: string) => Promise<AskedResponse>;
  /** Returns the `error` event for a refusal of this server, or for a bug. */
  readonly refusedEvent: (thrown: unknown) => string;
  /** Returns the `error` event for a refusal of an upstream. */
  readonly declinedEvent: (declined: Relayed) => string;
};

const {
  lifeMs: connectionMs,
  stallMs: connectionStallMs,
  unsentBytes: connectionUnsentBytes,
  waiting: connectionWaiting,
  waitingChars: connectionWaitingChars,
} = RESPONSES_LIMITS.connection;

/** Reason for closing a socket. Each waiting request is refused with `refusal` first. */
type Closing = {
  readonly code: number;
  readonly reason: string;
  readonly refusal: Error;
  /** True when the refusal is sent before the close also to a client without a waiting request. */
  readonly isTold?: boolean;
};

const LIMIT_MINUTES = connectionMs / 60_000;

/**
 * OpenAI's WebSocket mode of Responses. Each `response.create` message is a purchase like a streamed `POST /v1/responses`, and
 * each event of its answer is a message; requests are answered one after another. A response that is not kept can be continued
 * on the same connection. A client that leaves pays for the part that was delivered.
 */
export class ResponseConnection {
  readonly #deps: Deps;
  readonly #buyer: Omit<Buyer, 'signal' | 'workId'>;
  readonly #memory: ConnectionMemory;
  readonly #paced: PacedClient;
  #socket: ConnectionSocket | undefined;
  readonly #waiting: string[] = [];
  #isAnswering = false;
  #current: { readonly leaving: AbortController; events?: AsyncIterator<Uint8Array> } | undefined;
  /** Reason for the close. Undefined while the connection accepts requests. */
  #closing: Closing | undefined;
  #isOver = false;
  #lifetime: TimerHandle | undefined;

  constructor(deps: Deps, buyer: Omit<Buyer, 'signal' | 'workId'>) {
    this.#deps = deps;
    this.#buyer = buyer;
    this.#memory = new ConnectionMemory(deps.remembered);
    this.#paced = new PacedClient(deps.clock, {
      unsentBytes: connectionUnsentBytes,
      stallMs: connectionStallMs,
    });
  }

  opened(socket: ConnectionSocket): void {
    this.#socket = socket;
    this.#lifetime = this.#deps.clock.setTimeout(() => this.#expire(), connectionMs);
  }

  message(data: string | Uint8Array): void {
    if (this.#isOver || this.#closing !== undefined) return;
    const text = typeof data === 'string' ? data : '';
    const chars = this.#waiting.reduce((sum, { length }) => sum + length, text.length);
    if (this.#waiting.length >= connectionWaiting || chars > connectionWaitingChars) {
      this.#refuse(responseErrors.connectionBusy(connectionWaiting, connectionWaitingChars));
      return;
    }
    this.#waiting.push(text);
    this.#run();
  }

  /** Notes that the client has read the sent data. */
  drained(): void {
    this.#paced.drained();
  }

  /** Finishes the current answer and closes the connection. Waiting requests are refused without a charge. */
  drain(): void {
    this.#finish({ ...DRAINING, refusal: requestErrors.draining() });
  }

  cutOff(code: number, reason: string): void {
    this.closed();
    this.#socket?.close(code, reason);
  }

  closed(): void {
    this.#isOver = true;
    this.#waiting.length = 0;
    this.#memory.close();
    if (this.#lifetime !== undefined) this.#deps.clock.clearTimeout(this.#lifetime);
    const current = this.#current;
    this.#current = undefined;
    // The reader leaves the stream first, so that the stream ends as left by its client and not as broken.
    void current?.events?.return?.().catch((err: unknown) => {
      this.#deps.log.error({ err }, 'a response whose client left could not be settled');
    });
    current?.leaving.abort();
  }

  /**
   * Closes the connection at its time limit. The current answer ends first and the error follows; within the answer, the error
   * would make the client take the answer as failed.
   */
  #expire(): void {
    const refusal = responseErrors.connectionLimit(LIMIT_MINUTES);
    const reason = `open for ${LIMIT_MINUTES} minutes`;
    this.#finish({ code: 1000, reason, refusal, isTold: this.#waiting.length === 0 });
  }

  #finish(closing: Closing): void {
    this.#closing ??= closing;
    this.#run();
  }

  /** Answers the waiting requests one after another. Never rejects. */
  #run(): void {
    if (this.#isAnswering || this.#isOver) return;
    this.#isAnswering = true;
    void this.#work().finally(() => {
      this.#isAnswering = false;
      if (this.#waiting.length > 0) this.#run();
      else if (this.#closing !== undefined && !this.#isOver) this.#close(this.#closing);
    });
  }

  #close({ code, isTold = false, reason, refusal }: Closing): void {
    if (isTold) this.#refuse(refusal);
    this.cutOff(code, reason);
  }

  async #work(): Promise<void> {
    while (!this.#isOver) {
      const text = this.#waiting.shift();
      if (text === undefined) return;
      if (this.#closing !== undefined) {
        this.#refuse(this.#closing.refusal);
        continue;
      }
      const leaving = new AbortController();
      this.#current = { leaving };
      try {
        await this.#answer(text, leaving.signal);
      } catch (error) {
        // A purchase that the end of the connection has stopped throws, too.
        if (!leaving.signal.aborted) this.#refuse(error);
      } finally {
        // An idle connection must not keep its last purchase in memory.
        if (this.#current?.leaving === leaving) this.#current = undefined;
      }
    }
  }

  async #answer(text: string, signal: AbortSignal): Promise<void> {
    await this.#deps.admit();
    signal.throwIfAborted();
    const { body, ...asked } = await this.#deps.read(text);
    signal.throwIfAborted();
    const answer = await this.#deps.responses.create({
      buyer: { ...this.#buyer, signal, workId: undefined },
      body: { ...body, stream: true },
      memory: this.#memory,
      ...asked,
    });
    if (isStreamed(answer)) await this.#relay(answer.body[Symbol.asyncIterator](), signal);
    else this.#socket?.send(this.#deps.declinedEvent(answer));
  }

  async #relay(events: AsyncIterator<Uint8Array>, signal: AbortSignal): Promise<void> {
    if (this.#current !== undefined) this.#current.events = events;
    for (;;) {
      if (signal.aborted) {
        await events.return?.();
        return;
      }
      const { done, value } = await events.next();
      if (done === true) return;
      // The event may have been written in this turn of the event loop.
      if (isLongJson(value)) await turnForLongWork();
      for (const text of eventTexts(value)) await this.#send(text, signal);
    }
  }

  async #send(text: string, signal: AbortSignal): Promise<void> {
    if (this.#socket === undefined || signal.aborted) return;
    const isTaken = await this.#paced.send(this.#socket, text, signal);
    if (!isTaken) this.cutOff(1013, 'the client reads too slowly');
  }

  #refuse(thrown: unknown): void {
    this.#socket?.send(this.#deps.refusedEvent(thrown));
  }
}

const isStreamed = (answer: Relayed | StreamedAnswer): answer is StreamedAnswer =>
  Symbol.asyncIterator in answer.body;
