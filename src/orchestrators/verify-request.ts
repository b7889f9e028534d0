import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { openSealed } from '../kernel/seal.ts';
import type { Sql } from '../platform/postgres/sql.ts';
import { AddressBuckets } from '../rate-limit/address-buckets.ts';
import { createBatchedLookup } from './batched-lookup.ts';
import { hashOfToken, type InboundConnection, secretPlace } from './connection.ts';
import { findInbound } from './connection-store.ts';
import { orchestratorErrors } from './errors.ts';
import { LOOK_UPS, ORCHESTRATOR_LIMITS } from './limits.ts';
import { isProvider, PLATFORMS } from './platform.ts';
import { type Proof, readProof } from './read-proof.ts';

/** A request of a platform, before its sender is verified. */
export type PlatformRequest = {
  readonly provider: string;
  readonly token: string;
  readonly headers: ReadonlyMap<string, string>;
  /** Reads the body as it was sent. Called once, and not before the token is known. */
  readonly readBody: () => Promise<Buffer>;
  /** Runs the check of token and signature, within the limits of strangers. */
  readonly attempt: <T>(token: string, check: () => Promise<T>) => Promise<T>;
};

export type VerifiedRequest = { readonly connection: InboundConnection; readonly bytes: Buffer };

export type VerifyDeps = {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  readonly sealingSecret: string | undefined;
};

const TOKEN = /^[\w-]{43}$/;
const NO_PROOF: Proof = () => true;

/**
 * Creates the check of a platform's request: its token, and with `needsProof` the signature over the bytes of its body. Resolves
 * to the connection and the body. Throws before anything of the body is parsed when the platform did not send it.
 */
export function createVerifyRequest(
  { sql, clock, log, sealingSecret }: VerifyDeps,
  inTime: <T>(found: Promise<T>) => Promise<T>,
) {
  const sent = new AddressBuckets(clock, ORCHESTRATOR_LIMITS.inbound.perConnection);
  const find = createBatchedLookup((hashes) => inTime(findInbound(sql, hashes)), LOOK_UPS);

  /** Returns the connection of a token. Throws 404 when there is none. */
  async function requireConnection(request: PlatformRequest): Promise<InboundConnection> {
    const { provider, token } = request;
    if (!isProvider(provider) || !TOKEN.test(token)) throw orchestratorErrors.unknownUrl();
    const found = await find(hashOfToken(token).toString('hex'));
    if (found?.provider !== provider) throw orchestratorErrors.unknownUrl();
    const waitSeconds = sent.take(String(found.id));
    if (waitSeconds > 0) throw orchestratorErrors.tooMany(waitSeconds);
    return found;
  }

  function secretOf(connection: InboundConnection): string {
    if (sealingSecret === undefined) throw orchestratorErrors.unavailable();
    const place = secretPlace(connection);
    try {
      return Buffer.from(openSealed(sealingSecret, place, connection.sealedSecret)).toString();
    } catch (err) {
      log.error(
        { err, connectionId: connection.id },
        'the secret of a voice platform was sealed under another PROVIDER_KEY_SECRET',
      );
      throw orchestratorErrors.unavailable();
    }
  }

  return (request: PlatformRequest, needsProof: boolean): Promise<VerifiedRequest> =>
    request.attempt(request.token, async () => {
      const connection = await requireConnection(request);
      const { header } = PLATFORMS[connection.provider];
      const proof = needsProof
        ? readProof(connection.provider, request.headers, clock.now())
        : NO_PROOF;
      if (proof === undefined) throw orchestratorErrors.badSignature(header);
      const bytes = await request.readBody();
      if (needsProof && !proof(bytes, secretOf(connection))) {
        throw orchestratorErrors.badSignature(header);
      }
      return { connection, bytes };
    });
}
