import { createHash, createHmac } from 'node:crypto';

/** Credentials, region and service of a signature. */
export type AwsScope = {
  readonly keyId: string;
  readonly secret: string;
  readonly region: string;
  readonly service: string;
};

type Unsigned = {
  readonly method: string;
  readonly url: URL;
  readonly contentType: string;
  readonly body: string | Uint8Array | undefined;
};

const sha256 = (data: string | Uint8Array): string =>
  createHash('sha256').update(data).digest('hex');

const hmac = (key: string | Buffer, data: string): Buffer =>
  createHmac('sha256', key).update(data).digest();

const SIGNED = 'content-type;host;x-amz-date';

/**
 * Returns the headers that authenticate a request at Amazon (Signature Version 4). The path must have plain characters only,
 * and no name may come twice in the query.
 */
export function signAws(
  { body = '', contentType, method, url }: Unsigned,
  { keyId, region, secret, service }: AwsScope,
  nowMs: number,
): Record<string, string> {
  const time = new Date(nowMs).toISOString().replace(/[-:]|\.\d{3}/g, '');
  const day = time.slice(0, 8);
  const query = [...url.searchParams]
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .sort()
    .join('&');
  const canonical = [
    method,
    url.pathname,
    query,
    `content-type:${contentType}`,
    `host:${url.host}`,
    `x-amz-date:${time}`,
    '',
    SIGNED,
    sha256(body),
  ].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const key = [region, service, 'aws4_request'].reduce(hmac, hmac(`AWS4${secret}`, day));
  const signature = createHmac('sha256', key).update(text).digest('hex');
  return {
    'content-type': contentType,
    'x-amz-date': time,
    authorization: `AWS4-HMAC-SHA256 Credential=${keyId}/${scope}, SignedHeaders=${SIGNED}, Signature=${signature}`,
  };
}
