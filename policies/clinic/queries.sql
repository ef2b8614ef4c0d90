SELECT ward, count(*), dp.error(count(*)) AS error_95 FROM clinic.visits GROUP BY ward;
SELECT diagnosis, count(DISTINCT patient_id), dp.error(count(DISTINCT patient_id)) AS error_95 FROM clinic.visits GROUP BY diagnosis ORDER BY 2 DESC;
SELECT test, avg(value), dp.error(avg(value)) AS error_95 FROM clinic.results GROUP BY test;
SELECT smoker, count(*), dp.error(count(*)) AS error_95 FROM clinic.patients GROUP BY smoker;
