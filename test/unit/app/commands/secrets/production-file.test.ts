import { parseEnv } from 'node:util';
import { expect, it } from 'vitest';
import { productionFile } from '../../../../../src/app/commands/secrets/production-file.ts';
import { readConfig } from '../../../../../src/config/config.ts';
import { featuresOff } from '../../../../../src/config/features.ts';
import { systemRandom } from '../../../../../src/kernel/random.ts';

it('the production file is a configuration that can create agents, and its secrets all differ', () => {
  const environment = parseEnv(productionFile(systemRandom, '/var/lib/agents')) as Record<
    string,
    string
  >;
  const config = readConfig(environment);
  expect(config.environment).toBe('production');
  expect(config.database).toEqual({ kind: 'directory', path: '/var/lib/agents' });
  expect(featuresOff(config).map(({ feature }) => feature)).toEqual([
    'deposits and payments in USDC',
    'phone',
  ]);
  const secrets = Object.values(environment).filter((value) => /^(0x)?[0-9a-f]{64}$/.test(value));
  expect(secrets).toHaveLength(7);
  expect(new Set(secrets).size).toBe(7);
});
