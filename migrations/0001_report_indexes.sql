CREATE TABLE "admin_acts" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	"act" text NOT NULL,
	"target" text NOT NULL,
	"detail" jsonb NOT NULL,
	"request_id" text NOT NULL,
	"client_address" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "alarms" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"since" timestamp with time zone NOT NULL,
	"last_at" timestamp with time zone NOT NULL,
	"count" integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE "leases" ADD COLUMN "version" text;--> statement-breakpoint
ALTER TABLE "leases" ADD COLUMN "started_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "leases" ADD COLUMN "open_requests" integer;--> statement-breakpoint
ALTER TABLE "leases" ADD COLUMN "open_sockets" integer;--> statement-breakpoint
CREATE INDEX "events_suspended" ON "events" USING btree ("agent_wallet") WHERE name = 'agent.suspended';--> statement-breakpoint
CREATE INDEX "postings_funding" ON "postings" USING btree ("agent_id","at") WHERE code in ('funding.deposit', 'funding.credit');--> statement-breakpoint
CREATE INDEX "reservations_unpaid" ON "reservations" USING btree ("agent_id","reserved_at") WHERE state in ('pending_settlement', 'expired_unsettled', 'payment_rejected', 'released');--> statement-breakpoint
CREATE INDEX "reservations_tx" ON "reservations" USING btree ("tx_hash") WHERE tx_hash is not null;