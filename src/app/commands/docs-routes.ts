import { writeFileSync } from 'node:fs';
import { routesPage } from './docs/routes-page.ts';

/** `npm run docs:routes`: regenerates the page of all routes and events. */
writeFileSync('docs/routes.md', routesPage());
