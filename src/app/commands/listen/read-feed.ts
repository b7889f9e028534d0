import { z } from 'zod';
import type { Fetch, OutboundResponse } from '../../../platform/egress/fetch.ts';
import { bearer } from '../demo/api.ts';
import { failureWord } from './failure-word.ts';

const PATH = '/v1/developer/events';
const TIMEOUT_MS = 15_000;
const PAGE_EVENTS = 100;
const PAGE_BYTES = 64 * 1_024 * 1_024;

const Page = z.object({
  events: z.array(z.looseObject({ event: z.string(), sequence: z.int(), firedAt: z.string() })),
  after: z.string().regex(/^\d+$/),
  hasMore: z.boolean(),
});

export type FeedEvent = z.output<typeof Page>['events'][number];
type FeedPage = z.output<typeof Page>;

/** Server whose events are read, and the key of the account. */
export type Feed = { readonly server: string; readonly key: string };

/** Thrown when the server cannot answer now. The next attempt may succeed. */
export class FeedAway extends Error {
  override readonly name = 'FeedAway';
}

/**
 * Reads one page of the events behind the position `after`; without a position, reads only the latest position. Throws FeedAway
 * for failures that may pass, and for all others an error that says what to do.
 */
export async function readFeedPage(
  request: Fetch,
  { key, server }: Feed,
  after: string | undefined,
): Promise<FeedPage> {
  const query = after === undefined ? 'latest=true' : `after=${after}&limit=${PAGE_EVENTS}`;
  let answer: OutboundResponse;
  try {
    answer = await request({
      url: `${server}${PATH}?${query}`,
      method: 'GET',
      headers: bearer(key),
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: PAGE_BYTES,
    });
  } catch (error) {
    throw new FeedAway(
      `${server} does not answer (${failureWord(error)}). Start it with npm start, or name another with --server.`,
    );
  }
  const { status } = answer;
  if (status === 429 || status >= 500) throw new FeedAway(`${server} answers ${status}.`);
  const told = parseJson(answer.body);
  const page = status === 200 ? Page.safeParse(told) : undefined;
  if (page?.success) return page.data;
  throw new Error(refusalOf(server, status, told));
}

/** Parses a JSON body. Undefined when the body is no JSON, so the peer is not a server of this kind. */
function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString());
  } catch {
    return undefined;
  }
}

const Refusal = z.object({ error: z.string(), message: z.string().optional() });

function refusalOf(server: string, status: number, told: unknown): string {
  const { data } = Refusal.safeParse(told);
  const said = data === undefined ? '' : `: ${data.message ?? data.error}`;
  switch (status) {
    case 401:
      return `${server} refuses the key${said} Pass a developer key, svc_live_…, with --key or in DEVELOPER_KEY.`;
    case 400:
    case 403:
      return `${server} refuses to show its events (${status})${said}`;
    default:
      return `${server} has no feed of events (${status} for ${PATH}): name a server of this version with --server.`;
  }
}
