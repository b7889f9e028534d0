-- An operation that goes alone, as nearly all do but under load, takes a third less of the database's time.

ALTER FUNCTION apply_batch RENAME TO apply_parts;
--> statement-breakpoint

-- What `apply_parts` says of its arguments and of its answer holds here as well. One operation of one agent that needs
-- no look at a session or at a team is tried as one statement: what stands under its id, its agent's version and its hold
-- are asked for with the update itself. Whatever moves a hold or a posting of an agent raises the agent's version in the
-- same commit, so that what the statement saw of them is true if the version is. Where it finds nothing to update,
-- `apply_parts` tells why.
CREATE FUNCTION apply_batch(
  p_agent integer[], p_version bigint[], p_size integer[],
  p_spendable bigint[], p_held bigint[], p_credited bigint[], p_consumed bigint[],
  p_wallet bigint[], p_promised bigint[], p_counters text[],
  o_part integer[], o_id text[], o_code text[], o_asked bigint[],
  o_debits text[], o_credits text[], o_amounts text[], o_nonce text[],
  h_op integer[], h_id text[], h_from bigint[], h_to bigint[], h_session text[],
  h_key integer[], h_task text[], h_host text[], h_payee text[],
  t_op integer[], t_policy integer[], t_bucket bigint[],
  t_held bigint[], t_settled bigint[], t_cap bigint[], t_stops boolean[],
  g_op integer[], g_id text[], g_epoch integer[], g_state text[], g_done text[],
  node text, lease integer, resent boolean, companions jsonb
) RETURNS TABLE (
  part integer, version bigint, rules_version bigint,
  spendable bigint, held bigint, credited bigint, consumed bigint, wallet bigint, promised bigint,
  counters text, verdicts text, details bigint[], spent bigint[]
) LANGUAGE plpgsql
-- Every table is reached by its key, however small it was when the plan was made.
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
BEGIN
  IF cardinality(p_agent) = 1 AND cardinality(o_id) = 1 AND o_id[1] IS NOT NULL AND o_debits[1] IS NOT NULL
     AND coalesce(cardinality(h_op), 0) <= 1 AND (h_from[1] IS NULL OR h_to[1] IS NULL)
     AND t_op IS NULL AND g_op IS NULL THEN
    WITH agent AS (
      UPDATE agent_funds f
      SET version = f.version + 1,
          spendable_raw = f.spendable_raw + p_spendable[1],
          held_raw = f.held_raw + p_held[1],
          credited_raw = f.credited_raw + p_credited[1],
          consumed_raw = f.consumed_raw + p_consumed[1],
          wallet_raw = f.wallet_raw + p_wallet[1],
          promised_raw = f.promised_raw + p_promised[1],
          counters = coalesce(p_counters[1], f.counters)
      WHERE f.agent_id = p_agent[1] AND f.version = p_version[1]
        AND NOT EXISTS (SELECT 1 FROM postings p WHERE p.id = o_id[1])
        AND (h_from[1] IS NULL OR EXISTS (
          SELECT 1 FROM holds d
          WHERE d.id = h_id[1] AND d.agent_id = p_agent[1] AND d.amount_raw = h_from[1]))
      RETURNING f.agent_id
    ), opened AS (
      INSERT INTO holds (id, agent_id, amount_raw, kind, session_id, node_id, lease_epoch,
                         key_root_id, task_id, host, payee)
      SELECT h_id[1], a.agent_id, h_to[1], CASE WHEN h_session[1] IS NULL THEN 'request' ELSE 'session' END,
             h_session[1], node, lease, h_key[1], h_task[1], h_host[1], h_payee[1]
      FROM agent a WHERE h_op IS NOT NULL AND h_from[1] IS NULL
    )
    INSERT INTO postings (id, agent_id, code, asked_raw, debits, credits, amounts)
    SELECT o_id[1], a.agent_id, o_code[1], o_asked[1], o_debits[1]::text[], o_credits[1]::text[],
           o_amounts[1]::bigint[]
    FROM agent a;
    IF FOUND THEN
      IF h_from[1] IS NOT NULL THEN
        DELETE FROM holds d WHERE d.id = h_id[1];
      END IF;
      IF companions IS NOT NULL THEN
        PERFORM write_companions(companions, ARRAY[true], node, lease);
      END IF;
      RETURN;
    END IF;
  END IF;
  RETURN QUERY SELECT * FROM apply_parts(
    p_agent, p_version, p_size, p_spendable, p_held, p_credited, p_consumed,
    p_wallet, p_promised, p_counters, o_part, o_id, o_code, o_asked, o_debits, o_credits, o_amounts, o_nonce,
    h_op, h_id, h_from, h_to, h_session, h_key, h_task, h_host, h_payee,
    t_op, t_policy, t_bucket, t_held, t_settled, t_cap, t_stops, g_op, g_id, g_epoch, g_state, g_done,
    node, lease, resent, companions);
END $$;
