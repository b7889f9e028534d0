import { open } from 'node:fs/promises';
import { ConfigError } from '../../config/config-error.ts';
import { type Clock, isoTime } from '../../kernel/clock.ts';
import type { Unit } from '../../kernel/price.ts';
import { MODEL_LIMITS } from '../limits.ts';
import { movedBaseUrl } from '../providers/vendors/vendor-address.ts';
import { vendorApiOf } from '../providers/vendors/vendor-apis.ts';
import { buildCatalogue, type UnpricedSource } from './build-catalogue.ts';
import type { ProviderEntry } from './builtin/builtin-model.ts';
import { BUILTIN_MODELS } from './builtin/models.ts';
import { BUILTIN_PROVIDERS } from './builtin/providers.ts';
import type { Catalogue } from './catalogue.ts';
import { type CatalogueFile, CatalogueFileError, parseCatalogueFile } from './catalogue-file.ts';
import { retiringWithin } from './retirement.ts';

/** Entries that stay disabled: providers with the variable that they lack, and sources with the rates that they lack. */
type Missing = {
  readonly credentials: Readonly<Record<string, string>>;
  readonly rates: Readonly<Record<string, readonly Unit[]>>;
};

/** Date of the shutdown and the successor of each retiring model, by the model's id. */
type Retiring = Readonly<Record<string, string>>;

/**
 * Loads the built-in catalogue and adds the entries of the file, which replace built-in entries of the same id. Calls `missing`
 * once with all that stays disabled, and `retiring` if usable models are shut down already or within
 * `MODEL_LIMITS.catalogue.retirementNoticeDays`. Throws ConfigError, which names CATALOG_FILE, the file and the place inside it.
 */
export async function loadCatalogue(options: {
  readonly file?: string | undefined;
  readonly secret: (name: string) => string | undefined;
  readonly clock: Pick<Clock, 'now'>;
  readonly missing?: (missing: Missing) => void;
  readonly retiring?: (retiring: Retiring) => void;
}): Promise<Catalogue> {
  const { secret, missing } = options;
  const now = options.clock.now();
  const file = await readCatalogueFile(options.file);
  const providers = new Map<string, ProviderEntry>([
    ...Object.entries(BUILTIN_PROVIDERS).map(
      ([id, entry]) => [id, whereItIs(entry, secret)] as const,
    ),
    ...Object.entries(file.providers),
  ]);
  const models = new Map(BUILTIN_MODELS.map((model) => [model.id, model]));
  const today = isoTime(now).slice(0, 10);
  for (const model of file.models) {
    // The operator has known of the shutdown at least since today.
    const noticeDate = model.shutdownDate ? today : undefined;
    models.set(model.id, { ...model, noticeDate });
  }

  const credentials: Record<string, string> = {};
  for (const [id, { apiKeyEnv }] of providers) {
    if (apiKeyEnv !== undefined && secret(apiKeyEnv) === undefined) credentials[id] = apiKeyEnv;
  }
  const rates: Record<string, readonly Unit[]> = {};
  const unpriced = ({ model, provider, units }: UnpricedSource) => {
    rates[`${model} at ${provider}`] = units;
  };
  const catalogue = buildCatalogue({ providers, models: models.values(), secret, unpriced });
  missing?.({ credentials, rates });
  const retiring = retiringWithin(
    catalogue.models,
    MODEL_LIMITS.catalogue.retirementNoticeDays,
    now,
  );
  if (Object.keys(retiring).length > 0) options.retiring?.(retiring);
  return catalogue;
}

/**
 * Returns the entry of a provider at the address that its vendor's variable sets. Applies to vendors with a dialect of their
 * own: one variable moves all their providers.
 */
function whereItIs(entry: ProviderEntry, secret: (name: string) => string | undefined) {
  const vendor = vendorApiOf(entry.dialect);
  const baseUrl = vendor && movedBaseUrl(vendor.name, secret);
  return baseUrl === undefined ? entry : { ...entry, baseUrl };
}

async function readCatalogueFile(path: string | undefined): Promise<CatalogueFile> {
  if (path === undefined) return { providers: {}, models: [] };
  try {
    const known = new Map(BUILTIN_MODELS.map((model) => [model.id, model]));
    const providers = new Set(Object.keys(BUILTIN_PROVIDERS));
    return parseCatalogueFile(await readBounded(path), providers, known);
  } catch (error) {
    throw new ConfigError(`CATALOG_FILE ${path}: ${(error as Error).message}`);
  }
}

async function readBounded(path: string): Promise<string> {
  await using handle = await open(path, 'r');
  const { size } = await handle.stat();
  if (size > MODEL_LIMITS.catalogue.fileBytes) {
    throw new CatalogueFileError(`larger than ${MODEL_LIMITS.catalogue.fileBytes} bytes`);
  }
  return handle.readFile('utf8');
}
