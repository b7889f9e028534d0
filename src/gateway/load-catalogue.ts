import { open } from 'node:fs/promises';
import { ConfigError } from '../config.ts';
import { LIMITS } from '../kernel/limits.ts';
import { buildCatalogue } from './build-catalogue.ts';
import type { ProviderEntry } from './builtin/builtin-model.ts';
import { BUILTIN_MODELS } from './builtin/models.ts';
import { BUILTIN_PROVIDERS } from './builtin/providers.ts';
import type { Catalogue } from './catalogue.ts';
import { type CatalogueFile, CatalogueFileError, parseCatalogueFile } from './catalogue-file.ts';

/**
 * The built-in catalogue with the file's entries added to it or put in the place of the same id.
 * `missing` hears of each provider that stays off for want of its credential. Throws ConfigError, which
 * names CATALOG_FILE, the file and the place inside it.
 */
export async function loadCatalogue(options: {
  readonly file?: string | undefined;
  readonly secret: (name: string) => string | undefined;
  readonly missing?: (provider: string, apiKeyEnv: string) => void;
}): Promise<Catalogue> {
  const { secret, missing } = options;
  const file = await readCatalogueFile(options.file);
  const providers = new Map<string, ProviderEntry>([
    ...Object.entries(BUILTIN_PROVIDERS),
    ...Object.entries(file.providers),
  ]);
  for (const [id, { apiKeyEnv }] of providers) {
    if (apiKeyEnv !== undefined && secret(apiKeyEnv) === undefined) missing?.(id, apiKeyEnv);
  }
  const models = new Map(BUILTIN_MODELS.map((model) => [model.id, model]));
  for (const model of file.models) models.set(model.id, model);
  return buildCatalogue({ providers, models: models.values(), secret });
}

async function readCatalogueFile(path: string | undefined): Promise<CatalogueFile> {
  if (path === undefined) return { providers: {}, models: [] };
  try {
    return parseCatalogueFile(await readBounded(path), new Set(Object.keys(BUILTIN_PROVIDERS)));
  } catch (error) {
    throw new ConfigError(`CATALOG_FILE ${path}: ${(error as Error).message}`);
  }
}

async function readBounded(path: string): Promise<string> {
  await using handle = await open(path, 'r');
  const { size } = await handle.stat();
  if (size > LIMITS.catalogFileBytes) {
    throw new CatalogueFileError(`larger than ${LIMITS.catalogFileBytes} bytes`);
  }
  return handle.readFile('utf8');
}
