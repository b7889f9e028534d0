import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** `npm run build`: compiles to dist/ and carries over what the compiler leaves behind. */
const root = resolve(import.meta.dirname, '../../..');
const dist = join(root, 'dist');

rmSync(dist, { recursive: true, force: true });
execFileSync('npx', ['tsc', '-p', '.tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
for (const file of readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })) {
  if (/\.(?:mjs|patch)$/.test(file)) cpSync(join(root, 'src', file), join(dist, 'src', file));
}
console.log('built; start it with: NODE_ENV=production node dist/src/main.js');
