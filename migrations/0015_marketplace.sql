-- What the marketplace of this server charges for stands in the history of calls, and each of its vendors is tried in turn.
CREATE TABLE "marketplace_vendors" (
	"vendor" text COLLATE "C" PRIMARY KEY NOT NULL,
	"status" text DEFAULT 'ok' NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL,
	"checked_at" timestamp with time zone,
	"latency_ms" integer,
	"excerpt" text,
	CONSTRAINT "marketplace_vendors_status" CHECK ("marketplace_vendors"."status" in ('ok', 'down'))
);
--> statement-breakpoint
ALTER TABLE "proxy_passthroughs" ADD COLUMN "cost_raw" bigint DEFAULT 0 NOT NULL;