-- What a summary says, worked out again from the files. SAMPLES, TICKS, PROCESSES and EVENTS are lists of
-- files. Times are in microseconds, shares of GPUs in parts of 168.

CREATE TABLE slices (profile VARCHAR, parts BIGINT); -- of an H100 with 80 GB: compute sevenths or memory eighths, the more
INSERT INTO slices VALUES ('1g.10gb', 24), ('1g.20gb', 42), ('2g.20gb', 48), ('3g.40gb', 84), ('4g.40gb', 96), ('7g.80gb', 168);

CREATE TABLE looks AS
  SELECT host, epoch_us(ts) AS us, max(every_us) AS every, max(looked_at_processes) AS looked
  FROM read_parquet(TICKS, hive_partitioning=true) WHERE samples > 0 GROUP BY ALL;

CREATE TABLE got AS
  SELECT DISTINCT ON (s.host, gpu_uuid, epoch_us(ts)) s.host, gpu_uuid AS uuid, epoch_us(ts) AS us,
    mig_parent_uuid AS parent, mig_profile AS profile, util_gpu_pct::DOUBLE AS util, sm_active_pct::DOUBLE AS sm,
    tensor_active_pct::DOUBLE AS tensor, dram_active_pct::DOUBLE AS dram,
    mem_used_bytes::DOUBLE AS used, mem_total_bytes::DOUBLE AS total, power_w::DOUBLE AS power, energy_j::HUGEINT AS energy
  FROM read_parquet(SAMPLES, hive_partitioning=true) s;

-- The rest of each divided GPU: what none of its instances has. Where the GPU itself was not sampled,
-- the power that is told with its instances is its own.
CREATE TABLE rests AS
  SELECT host, parent AS uuid, us, greatest(0, 168 - sum(parts))::BIGINT AS rest, max(power) AS power, max(energy) AS energy
  FROM got JOIN slices USING (profile) WHERE parent IS NOT NULL GROUP BY ALL;

CREATE TABLE seen AS
  SELECT g.host, g.uuid, g.us, coalesce(r.rest, p.parts, 168) AS share, r.rest IS NOT NULL AS divided, g.parent IS NOT NULL AS mig,
    util, sm, tensor, dram, used, total, g.power, g.energy
  FROM got g LEFT JOIN rests r USING (host, uuid, us) LEFT JOIN slices p USING (profile)
  UNION ALL
  SELECT r.host, r.uuid, r.us, r.rest, true, false, NULL, NULL, NULL, NULL, NULL, NULL, r.power, r.energy
  FROM rests r ANTI JOIN got USING (host, uuid, us);
UPDATE seen SET util = NULL, sm = NULL, tensor = NULL, dram = NULL, used = NULL, total = NULL WHERE divided;

-- Gaps that were told.
CREATE TABLE gaps AS
  SELECT DISTINCT host, epoch_us(ts) AS gap_us, value FROM read_parquet(EVENTS, hive_partitioning=true) WHERE event = 'gap' AND gpu_uuid IS NULL;

CREATE TABLE steps AS
  SELECT s.*, l.every, l.looked, lag(s.us) OVER w AS before, lag(s.energy) OVER w AS energy_before, row_number() OVER w AS n
  FROM seen s JOIN looks l USING (host, us) WINDOW w AS (PARTITION BY s.host, s.uuid ORDER BY s.us);

-- Each sample stands for the time since the one before of its device, without the gaps that were told, and at
-- most three intervals.
CREATE TABLE spans AS
  SELECT *, CASE WHEN since > 0 AND since <= 3 * every THEN since ELSE every END AS micros,
    before IS NULL OR gap > 0 OR since <= 0 OR since > 3 * every AS cut
  FROM (SELECT s.*, coalesce(g.gap, 0) AS gap, us - before - coalesce(g.gap, 0) AS since FROM steps s LEFT JOIN (
    SELECT host, uuid, us, sum(value) AS gap FROM steps JOIN gaps USING (host) WHERE gap_us > before AND gap_us <= us GROUP BY ALL) g
    USING (host, uuid, us));

-- Energy in eighths of a microjoule: by the counter where it goes on, else by power. Instances have none.
ALTER TABLE spans ADD COLUMN units HUGEINT;
UPDATE spans SET units = CASE
  WHEN mig THEN 0
  WHEN NOT cut AND energy >= energy_before THEN (energy - energy_before) * 8000000
  ELSE (coalesce(power, 0) * 8)::HUGEINT * micros END;

-- Who holds a device is what the last look at it told; on hosts that never tell, memory in use does.
CREATE TABLE holders AS
  SELECT DISTINCT host, gpu_uuid AS uuid, epoch_us(ts) AS us,
    CASE WHEN job IS NOT NULL THEN 'slurm' WHEN pod IS NOT NULL THEN 'pod' ELSE 'process' END AS kind,
    CASE WHEN job IS NOT NULL THEN job WHEN pod IS NOT NULL THEN namespace || '/' || pod ELSE "user" || '/' || pid END AS job,
    coalesce(namespace, "user") AS tenant
  FROM read_parquet(PROCESSES, hive_partitioning=true);

CREATE TABLE told AS SELECT host FROM looks WHERE looked = 1 GROUP BY ALL;

CREATE TABLE asked AS
  SELECT s.*, host IN (SELECT host FROM told) AS told,
    max(CASE WHEN looked = 1 THEN us END) OVER (PARTITION BY host, uuid ORDER BY us) AS look FROM spans s;

CREATE TABLE held AS
  SELECT a.host, a.uuid, a.us, h.kind, h.job, h.tenant FROM asked a JOIN holders h ON h.host = a.host AND h.uuid = a.uuid AND h.us = a.look
    WHERE told AND NOT divided
  UNION ALL
  SELECT host, uuid, us, 'unknown', '(not told) ' || host || uuid, '' FROM asked WHERE NOT told AND NOT divided AND used > 0.02 * total;

CREATE TABLE used AS
  SELECT a.*, coalesce(c.holders, 0) AS holders, coalesce(c.names, '') AS names,
    CASE WHEN sm IS NOT NULL THEN sm >= 1 OR coalesce(util >= 50, false) WHEN util IS NOT NULL THEN util > 0 END AS active
  FROM asked a LEFT JOIN (
    SELECT host, uuid, us, count(*) AS holders, string_agg(kind || ' ' || job, chr(10) ORDER BY kind, job) AS names FROM held GROUP BY ALL) c USING (host, uuid, us);

-- What each of the holders has of a sample: an even part, the first one the rest too.
CREATE TABLE parts AS
  SELECT host, uuid, us, n, share, cut, active, util, sm, tensor, dram, used, total, kind, job, tenant, holders,
    CASE WHEN place = 1 THEN micros - micros // holders * (holders - 1) ELSE micros // holders END AS micros,
    CASE WHEN place = 1 THEN units - units // holders * (holders - 1) ELSE units // holders END AS units,
    us - micros AS begin
  FROM (SELECT u.*, h.kind, h.job, h.tenant, row_number() OVER (PARTITION BY host, uuid, us ORDER BY h.kind, h.job) AS place
    FROM used u JOIN held h USING (host, uuid, us));

-- A trail is work and pauses of one device with the same holders, or of one job on one device, without a break.
CREATE TABLE trails AS
  SELECT 'gpu' AS what, host || ' ' || uuid AS id, host, uuid, us, micros, active, share,
    sum(CASE WHEN cut OR names <> name_before OR share <> share_before THEN 1 ELSE 0 END) OVER (PARTITION BY host, uuid ORDER BY us) AS trail
  FROM (SELECT *, lag(names, 1, '') OVER w AS name_before, lag(share, 1, 0) OVER w AS share_before FROM used WINDOW w AS (PARTITION BY host, uuid ORDER BY us))
  WHERE names <> ''
  UNION ALL
  SELECT 'job', job, host, uuid, us, micros, active, share,
    sum(CASE WHEN cut OR n <> n_before + 1 THEN 1 ELSE 0 END) OVER (PARTITION BY job, host, uuid ORDER BY us)
  FROM (SELECT *, lag(n, 1, -1) OVER (PARTITION BY job, host, uuid ORDER BY us) AS n_before FROM parts);

CREATE TABLE stretches AS
  SELECT what, id, host, uuid, trail, stretch, any_value(active) AS active, any_value(share) AS share, sum(micros)::BIGINT AS length
  FROM (SELECT *, sum(CASE WHEN active <> active_before THEN 1 ELSE 0 END) OVER (PARTITION BY what, id, host, uuid, trail ORDER BY us) AS stretch
    FROM (SELECT *, lag(active, 1, active) OVER (PARTITION BY what, id, host, uuid, trail ORDER BY us) AS active_before FROM trails WHERE active IS NOT NULL))
  GROUP BY what, id, host, uuid, trail, stretch;

CREATE TABLE pauses AS
  SELECT what, id, max(length) AS longest, coalesce(sum(length * share) FILTER (starved), 0)::BIGINT AS starved, count(*) FILTER (starved) AS pauses
  FROM (SELECT *, NOT active AND stretch > 0 AND stretch < last AND length >= 2000000 AND length < 600000000 AS starved
    FROM (SELECT *, max(stretch) OVER (PARTITION BY what, id, host, uuid, trail) AS last FROM stretches))
  WHERE NOT active GROUP BY what, id;

-- All that is summed up, by what it is summed up for.
CREATE TABLE facts AS
  SELECT 'gpu' AS what, host || ' ' || uuid AS id, micros, share, holders, active, util, sm, tensor, dram, used, total, power, units, mig, host, uuid, us FROM used
  UNION ALL SELECT 'total', '', micros, share, holders, active, util, sm, tensor, dram, used, total, power, units, mig, host, uuid, us FROM used
  UNION ALL SELECT 'job', job, p.micros, p.share, p.holders, p.active, p.util, p.sm, p.tensor, p.dram, p.used, p.total, u.power, p.units, u.mig, p.host, p.uuid, p.us
    FROM parts p JOIN used u USING (host, uuid, us)
  UNION ALL SELECT 'tenant', tenant, p.micros, p.share, p.holders, p.active, p.util, p.sm, p.tensor, p.dram, p.used, p.total, u.power, p.units, u.mig, p.host, p.uuid, p.us
    FROM parts p JOIN used u USING (host, uuid, us);
UPDATE facts SET power = NULL WHERE mig;

CREATE TABLE sums AS
  SELECT what, id, sum(micros * share) / 168 / 3.6e9 AS seen_gpu_hours,
    coalesce(sum(micros * share) FILTER (holders > 0), 0) / 168 / 3.6e9 AS held_gpu_hours,
    sum(util / 100 * micros * share) / 168 / 3.6e9 AS used_gpu_hours,
    coalesce(sum(micros * share) FILTER (holders > 0 AND NOT active), 0) / 168 / 3.6e9 AS idle_held_gpu_hours,
    coalesce(sum(micros * share) FILTER (holders > 1), 0) / 168 / 3.6e9 AS shared_gpu_hours,
    sum(util * micros * share) / sum(micros * share) FILTER (util IS NOT NULL) AS util_gpu_pct_mean,
    sum(sm * micros * share) / sum(micros * share) FILTER (sm IS NOT NULL) AS sm_active_pct_mean,
    sum(tensor * micros * share) / sum(micros * share) FILTER (tensor IS NOT NULL) AS tensor_active_pct_mean,
    sum(dram * micros * share) / sum(micros * share) FILTER (dram IS NOT NULL) AS dram_active_pct_mean,
    sum(power * micros) / sum(micros) FILTER (power IS NOT NULL) AS power_w_mean,
    coalesce(max(used), 0) AS mem_used_bytes_max, coalesce(max(total), 0) AS mem_total_bytes,
    CASE WHEN count(power) + sum(units) > 0 THEN sum(units) / 8e6 / 3.6e6 END AS energy_kwh
  FROM facts GROUP BY what, id;

-- Percentiles over time, to 1/128 of the range.
CREATE TABLE bins AS
  SELECT what, id, metric, least(floor(v / top * 128), 127) AS bin, any_value(top) AS top, max(v) AS most, sum(weight) AS weight
  FROM (SELECT what, id, 'sm_active' AS metric, sm AS v, 100.0 AS top, micros * share AS weight FROM facts
    UNION ALL SELECT what, id, 'tensor_active', tensor, 100.0, micros * share FROM facts
    UNION ALL SELECT what, id, 'dram_active', dram, 100.0, micros * share FROM facts
    UNION ALL SELECT what, id, 'mem_used', 100.0 * used / total, 100.0, micros * share FROM facts
    UNION ALL SELECT what, id, 'power', power, 2048.0, micros FROM facts)
  WHERE v IS NOT NULL GROUP BY what, id, metric, bin;

CREATE TABLE percentiles AS
  SELECT what, id, metric, q, least(any_value(highest), (min(bin) + 1) * any_value(top) / 128) AS value
  FROM (SELECT *, sum(weight) OVER (w ORDER BY bin) AS below, sum(weight) OVER w AS whole, max(most) OVER w AS highest
    FROM bins WINDOW w AS (PARTITION BY what, id, metric)), (VALUES (0.5), (0.95)) AS wanted(q)
  WHERE below >= q::DOUBLE * whole AND weight > 0 GROUP BY what, id, metric, q;

-- The most that a job held at once: of the times in which it held one device without a break.
CREATE TABLE times AS
  SELECT job, host, uuid, any_value(share) AS share, min(begin) AS begin, max(us) AS ended
  FROM (SELECT *, sum(CASE WHEN cut OR n <> n_before + 1 THEN 1 ELSE 0 END) OVER (PARTITION BY job, host, uuid ORDER BY us) AS trail
    FROM (SELECT *, lag(n, 1, -1) OVER (PARTITION BY job, host, uuid ORDER BY us) AS n_before FROM parts))
  GROUP BY job, host, uuid, trail;
CREATE TABLE most AS
  SELECT job AS id, max(n) AS gpus, max(share) / 168 AS gpu_share FROM (
    SELECT a.job, a.begin, count(*) AS n, sum(b.share) AS share
    FROM (SELECT DISTINCT job, begin FROM times) a JOIN times b ON a.job = b.job AND b.begin <= a.begin AND b.ended > a.begin GROUP BY a.job, a.begin) GROUP BY job;

CREATE TABLE hours AS
  SELECT dayname(make_timestamp(us)) AS weekday, hour(make_timestamp(us)) AS hour,
    coalesce(sum(micros * share) FILTER (holders > 0), 0) / sum(micros * share) AS held_share,
    sum(util / 100 * micros * share) / sum(micros * share) FILTER (util IS NOT NULL) AS busy_share
  FROM used GROUP BY ALL;
