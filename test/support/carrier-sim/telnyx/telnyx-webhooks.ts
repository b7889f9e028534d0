import { type KeyObject, randomUUID, sign } from 'node:crypto';
import type { Faults } from '../options.ts';
import type { SimTime } from '../sim-time.ts';

type Json = Readonly<Record<string, unknown>>;

/** A webhook as it was posted, and how the server answered it. */
export type PostedWebhook = {
  readonly type: string;
  readonly callControlId: unknown;
  readonly isForged: boolean;
  readonly status: number;
};

/** What tells the server that it has to do something. Without it a call stands still, so that it is never lost. */
export type Kind = 'asks' | 'reports';

/** One that no server has answered. */
const UNREACHED = 0;
/** One that was held back, so that the next overtakes it, goes out by then. */
const HELD_MS = 300;

type Webhook = { readonly url: string; readonly type: string; readonly body: string } & {
  readonly callControlId: unknown;
};

/** Posts the webhooks of one call, signed by Ed25519, with the faults that are set. */
export class TelnyxWebhooks {
  readonly #key: KeyObject;
  readonly #time: SimTime;
  readonly #faults: Faults;
  readonly #reach: (url: string) => string;
  readonly #posted: PostedWebhook[];
  #sending: Promise<unknown> = Promise.resolve();
  #held: Webhook | undefined;

  constructor(deps: {
    readonly key: KeyObject;
    readonly time: SimTime;
    readonly faults: Faults;
    readonly reach: (url: string) => string;
    /** Where every webhook is noted. */
    readonly posted: PostedWebhook[];
  }) {
    this.#key = deps.key;
    this.#time = deps.time;
    this.#faults = deps.faults;
    this.#reach = deps.reach;
    this.#posted = deps.posted;
  }

  event(url: string, type: string, payload: Json, kind: Kind = 'reports'): void {
    const { losesStatusCallbacks, reordersCallbacks } = this.#faults;
    if (losesStatusCallbacks && kind === 'reports') return;
    const occurred_at = new Date().toISOString();
    const data = { record_type: 'event', event_type: type, id: randomUUID(), occurred_at, payload };
    const body = JSON.stringify({ data, meta: { attempt: 1, delivered_to: url } });
    const webhook = { url, type, body, callControlId: payload.call_control_id };
    const held = this.#held;
    if (reordersCallbacks && held === undefined) {
      this.#held = webhook;
      this.#time.after(HELD_MS, () => {
        if (this.#held === webhook) this.#release();
      });
      return;
    }
    this.#queue(webhook);
    this.#release();
  }

  /** Resolves when everything has arrived. */
  async flush(): Promise<void> {
    this.#release();
    await this.#sending;
  }

  #release(): void {
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this.#queue(held);
  }

  #queue(webhook: Webhook): void {
    this.#sending = this.#sending.then(async () => {
      if (this.#faults.forgesCallbacks) await this.#post(webhook, 'forged');
      if (this.#faults.duplicatesCallbacks) await this.#post(webhook);
      await this.#post(webhook);
    });
  }

  async #post({ url, type, body, callControlId }: Webhook, forged?: 'forged'): Promise<void> {
    const isForged = forged !== undefined;
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const signed = `${timestamp}|${isForged ? `${body} ` : body}`;
    const signature = sign(null, Buffer.from(signed), this.#key).toString('base64');
    const status = await this.#send(url, body, { timestamp, signature });
    this.#posted.push({ type, callControlId, isForged, status });
  }

  async #send(url: string, body: string, by: { timestamp: string; signature: string }) {
    try {
      const answer = await fetch(this.#reach(url), {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'telnyx-timestamp': by.timestamp,
          'telnyx-signature-ed25519': by.signature,
        },
        body,
        redirect: 'manual',
        signal: AbortSignal.timeout(15_000),
      });
      await answer.arrayBuffer();
      return answer.status;
    } catch {
      return UNREACHED;
    }
  }
}
