import { checkCertificate } from '../http/server/certificate.ts';
import { createMetrics } from '../http/server/metrics.ts';
import type { Teardown } from '../kernel/teardown.ts';
import { loadCatalogue } from '../models/catalogue/load-catalogue.ts';
import { loadRateCard } from '../phone/load-rate-card.ts';
import type { RateCard } from '../phone/rate-card.ts';
import { loadChainCode } from '../platform/chain/account.ts';
import { createFetch } from '../platform/egress/fetch.ts';
import { MessageQueue } from '../platform/messages/message-queue.ts';
import { type Database, openDatabase } from '../platform/postgres/database.ts';
import { openTracing } from '../platform/tracing/open-tracing.ts';
import type { ServerDeps, World } from './build/world.ts';

/** Reads the files, opens the database with its schema up to date, and the way out of this server. */
export async function openWorld(
  deps: ServerDeps,
  teardown: Teardown,
): Promise<{ readonly world: World; readonly database: Database; readonly rateCard: RateCard }> {
  const { settings, secret, clock, signal, log } = deps;
  // A wrong file stops the start before the database is up, which would have to be ended again.
  const catalogue = await loadCatalogue({
    file: settings.catalogFile,
    secret,
    clock,
    missing: (missing) => log.info(missing, 'models stay off for want of credentials or rates'),
    retiring: (retiring) => log.warn({ retiring }, 'vendors shut these models down soon'),
  });
  const rateCard = await loadRateCard(settings.phone.rateCardFile);
  if (settings.tls !== undefined) await checkCertificate(settings.tls);
  // The chain library takes 200 ms to load: now, and not in the middle of a call.
  await loadChainCode();
  const place = deps.database ?? settings.database;
  const database = teardown.use('database', await openDatabase({ ...deps, database: place }));
  signal?.throwIfAborted();
  await database.migrate();
  signal?.throwIfAborted();

  const metrics = createMetrics({ withProcess: true });
  const tracer = await openTracing({ clock, log, metrics }, settings.tracing, teardown);
  const { close: closeOutbound, ...outbound } = createFetch();
  teardown.defer('outbound', closeOutbound);
  const { sql, ledgerSql } = database;
  const sending = { ...outbound, line: new MessageQueue(clock) };
  const world = { ...deps, sql, ledgerSql, metrics, tracer, catalogue, ...sending };
  return { world, database, rateCard };
}
