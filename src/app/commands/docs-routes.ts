import { writeFileSync } from 'node:fs';
import { routesPage } from './docs/routes-page.ts';

/** `npm run docs:routes`: writes the page of all routes and events anew. */
writeFileSync('docs/routes.md', routesPage());
