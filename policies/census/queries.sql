SELECT count(*), dp.error(count(*)) AS error_95 FROM census.adult WHERE age >= 65;
SELECT region, count(*), avg(income), dp.error(avg(income)) AS error_95 FROM census.adult GROUP BY region;
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY hours_per_week), dp.error(percentile_cont(0.5) WITHIN GROUP (ORDER BY hours_per_week)) AS error_95 FROM census.adult WHERE occupation = 'Sales';
SELECT zip, count(*), dp.error(count(*)) AS error_95 FROM census.adult GROUP BY zip ORDER BY 2 DESC;
