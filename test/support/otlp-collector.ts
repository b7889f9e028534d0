import { createServer } from 'node:http';
import { listenOnLoopback } from './listen-on-loopback.ts';
import { type CollectedSpan, decodeSpans } from './otlp-protobuf.ts';

export type OtlpCollector = AsyncDisposable & {
  readonly baseUrl: string;
  readonly spans: CollectedSpan[];
  /** Of every post. */
  readonly posts: { readonly path: string; readonly headers: NodeJS.Dict<string | string[]> }[];
  /** How it answers; `undefined`: not at all. */
  status: number | undefined;
  /** The span that `found` finds, once it has come. */
  awaited(found: (span: CollectedSpan) => boolean): Promise<CollectedSpan>;
};

/** An OpenTelemetry collector that reads OTLP over HTTP in protobuf, and fails on request. */
export async function otlpCollector(): Promise<OtlpCollector> {
  const spans: CollectedSpan[] = [];
  const posts: OtlpCollector['posts'] = [];
  const peer = {
    spans,
    posts,
    status: 200 as number | undefined,
    async awaited(found: (span: CollectedSpan) => boolean) {
      const untilMs = Date.now() + 10_000;
      for (;;) {
        const span = spans.find(found);
        if (span !== undefined) return span;
        if (Date.now() > untilMs) {
          throw new Error(`no such span among ${spans.map(({ name }) => name).join(', ')}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      posts.push({ path: request.url ?? '', headers: request.headers });
      if (peer.status === undefined) return;
      if (peer.status === 200) spans.push(...decodeSpans(Buffer.concat(chunks)));
      response.writeHead(peer.status, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  return Object.assign(peer, await listenOnLoopback(server));
}

/** The children of a span, in the order of their beginnings. */
export const childrenOf = (spans: readonly CollectedSpan[], parent: CollectedSpan) =>
  spans
    .filter(({ parentId, traceId }) => parentId === parent.spanId && traceId === parent.traceId)
    .sort((a, b) => Number(a.startNs - b.startNs));
