import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { expect, it } from 'vitest';
import { productionFile } from '../../../src/app/commands/secrets/production-file.ts';
import { NODE_OPTIONS } from '../../../src/app/node-options.ts';
import { systemRandom } from '../../../src/kernel/random.ts';

it('npm start, npm run dev and the production file start a server with the same options of Node.js', () => {
  const { scripts } = JSON.parse(
    readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
  ) as { scripts: Record<'start' | 'dev', string> };
  const options = NODE_OPTIONS.join(' ');
  expect(scripts.start).toContain(`exec node ${options} --import tsx src/main.ts`);
  expect(scripts.dev).toContain(`exec node ${options} --import tsx --watch src/main.ts`);
  expect(parseEnv(productionFile(systemRandom, '/data')).NODE_OPTIONS).toBe(options);
});
