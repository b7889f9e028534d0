import { expect, it } from 'vitest';
import { REMOTE_VENDORS } from '../../../../../src/marketplace/vendors/vendors.ts';
import { BUILTIN_PROVIDERS } from '../../../../../src/models/catalogue/builtin/providers.ts';
import { vendorApiOf } from '../../../../../src/models/providers/vendors/vendor-apis.ts';

it('each shared vendor has the same address and variable in the catalogue and in the marketplace', () => {
  const shared = Object.values(BUILTIN_PROVIDERS).flatMap(({ apiKeyEnv, baseUrl, dialect }) => {
    const api = vendorApiOf(dialect);
    if (api === undefined) return [];
    // An address of sockets answers requests, too.
    return [[api.name, baseUrl?.replace(/^ws/, 'http'), [apiKeyEnv]] as const];
  });
  expect(shared.map(([name]) => name)).toEqual([
    'deepgram',
    'cartesia',
    'elevenlabs',
    'rime',
    'assemblyai',
  ]);
  for (const [name, baseUrl, variables] of shared) {
    const vendor = REMOTE_VENDORS.find((each) => each.name === name);
    expect(vendor?.account).toMatchObject({ baseUrl, variables });
  }
});
