SELECT date_trunc('month', at) AS month, count(*), dp.error(count(*)) AS error_95 FROM event_log.events WHERE kind = 'search' GROUP BY 1 ORDER BY 1;
SELECT kind, avg(duration_ms), dp.error(avg(duration_ms)) AS error_95 FROM event_log.events GROUP BY kind;
SELECT count(DISTINCT account_id), dp.error(count(DISTINCT account_id)) AS error_95 FROM event_log.events WHERE at >= '2026-09-01';
