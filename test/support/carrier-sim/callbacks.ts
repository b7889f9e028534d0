import twilio from 'twilio';
import type { Faults } from './options.ts';

export type Parameters = Readonly<Record<string, string>>;

/** A callback as it was posted, and what the server said to it. */
export type PostedCallback = {
  readonly url: string;
  readonly parameters: Parameters;
  readonly isForged: boolean;
  readonly status: number;
  readonly body: string;
};

/** One that no server has answered. */
const UNREACHED = 0;

/** Posts the signed callbacks of one call, with the faults that are set. */
export class Callbacks {
  readonly #posted: PostedCallback[];
  readonly #authToken: string;
  readonly #faults: Faults;
  readonly #reach: (url: string) => string;
  /** Status callbacks go out one after the other, as those of a carrier usually do. */
  #statuses: Promise<unknown> = Promise.resolve();
  #held: { readonly url: string; readonly parameters: Parameters } | undefined;

  /** `posted`: where every callback is noted. */
  constructor(
    authToken: string,
    faults: Faults,
    reach: (url: string) => string,
    posted: PostedCallback[],
  ) {
    this.#authToken = authToken;
    this.#faults = faults;
    this.#reach = reach;
    this.#posted = posted;
  }

  /** Asks the server something, and answers what it says. */
  async ask(url: string, parameters: Parameters): Promise<PostedCallback> {
    if (this.#faults.forgesCallbacks) await this.#post(url, parameters, 'forged');
    if (this.#faults.duplicatesCallbacks) await this.#post(url, parameters);
    return this.#post(url, parameters);
  }

  /** Reports a state. */
  status(url: string | undefined, parameters: Parameters): void {
    if (url === undefined || this.#faults.losesStatusCallbacks) return;
    const held = this.#held;
    if (this.#faults.reordersCallbacks && held === undefined) {
      this.#held = { url, parameters };
      return;
    }
    this.#held = undefined;
    this.#queue(url, parameters);
    if (held !== undefined) this.#queue(held.url, held.parameters);
  }

  /** Sends what was held back to come late, and resolves when everything has arrived. */
  async flush(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this.#queue(held.url, held.parameters);
    await this.#statuses;
  }

  sign(url: string, parameters: Parameters): string {
    return twilio.getExpectedTwilioSignature(this.#authToken, url, { ...parameters });
  }

  #queue(url: string, parameters: Parameters): void {
    this.#statuses = this.#statuses.then(() => this.ask(url, parameters));
  }

  async #post(url: string, parameters: Parameters, forged?: 'forged'): Promise<PostedCallback> {
    const isForged = forged !== undefined;
    const signature = this.sign(isForged ? `${url}#` : url, parameters);
    const answer = await this.#send(url, parameters, signature);
    const posted = { url, parameters, isForged, ...answer };
    this.#posted.push(posted);
    return posted;
  }

  async #send(url: string, parameters: Parameters, signature: string) {
    try {
      const answer = await fetch(this.#reach(url), {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
          'x-twilio-signature': signature,
        },
        body: new URLSearchParams(parameters).toString(),
        redirect: 'manual',
        signal: AbortSignal.timeout(15_000),
      });
      return { status: answer.status, body: await answer.text() };
    } catch {
      return { status: UNREACHED, body: '' };
    }
  }
}
