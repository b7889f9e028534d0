import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { readConfig } from '../../config/config.ts';
import { featuresOff } from '../../config/features.ts';
import { systemRandom } from '../../kernel/random.ts';
import { readOptions, runCommand } from './run-command.ts';
import { productionFile } from './secrets/production-file.ts';
import { writeOnce } from './secrets/write-once.ts';

/** `npm run secrets`: writes a complete environment file for a production server, with new secrets. */

const USAGE = 'usage: npm run secrets [-- --file .env.production]';

const OPTIONS = { file: { type: 'string', default: '.env.production' } } as const;

await runCommand(async () => {
  const { file } = readOptions(OPTIONS, USAGE);
  const text = productionFile(systemRandom, resolve('.data/production'));
  // Checked before it is written: the server must accept the file.
  const off = featuresOff(readConfig(parseEnv(text) as NodeJS.ProcessEnv));
  writeOnce(file, text);
  const still = off.map(({ feature, set }) => `  ${feature}: ${set}`).join('\n');
  console.log(`${file} has the secrets of a production server. Keep a copy: they cannot be made again.

Fill in
  DATABASE_URL, for a PostgreSQL server in place of the embedded one
  PUBLIC_URL, and TLS_CERT_FILE with TLS_KEY_FILE, or TRUSTED_PROXIES for a proxy that has the certificate
  OPENAI_API_KEY or keys of other vendors, for models that do not run inside the server

Off until it is set
${still}

Next
  npm run build
  node --env-file=${file} dist/src/main.js
  npm run agent -- --env ${file} --name x --usd 5`);
});
