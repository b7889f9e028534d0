-- A call through the proxy that the marketplace of this server answered has a charge; its line says what it came to.
ALTER TABLE "proxy_passthroughs" ADD COLUMN "cost_raw" bigint DEFAULT 0 NOT NULL;