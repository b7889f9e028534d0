import { join } from 'node:path';
import { compile, ROOT } from './compile.ts';

/** `npm run build`: compiles the server to dist/. */
compile('.tsconfig.build.json', join(ROOT, 'dist'));
console.log('built; start it with: NODE_ENV=production node dist/src/main.js');
