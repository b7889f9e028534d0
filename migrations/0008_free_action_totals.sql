-- Free calls through the proxy are counted by action, as charges are.
CREATE TABLE "free_action_totals" (
	"agent_id" integer NOT NULL,
	"action_id" text NOT NULL,
	"calls" integer NOT NULL,
	"first_seen" timestamp with time zone NOT NULL,
	"last_seen" timestamp with time zone NOT NULL,
	CONSTRAINT "free_action_totals_agent_id_action_id_pk" PRIMARY KEY("agent_id","action_id")
);
--> statement-breakpoint
CREATE INDEX "free_action_totals_recent" ON "free_action_totals" USING btree ("agent_id","last_seen");--> statement-breakpoint
INSERT INTO "free_action_totals" ("agent_id", "action_id", "calls", "first_seen", "last_seen")
SELECT agent_id, action_id, count(*), min(created_at), max(created_at) FROM "proxy_passthroughs"
WHERE action_id IS NOT NULL GROUP BY 1, 2;
