SELECT count(*), dp.error(count(*)) AS error_95 FROM census.adult WHERE age >= 65;
SELECT region, count(*), avg(income), dp.error(avg(income)) AS error_95 FROM census.adult GROUP BY region;
SELECT avg(age), dp.error(avg(age)) AS error_95 FROM census.adult WHERE occupation = 'Sales';
SELECT zip, count(*), dp.error(count(*)) AS error_95 FROM census.adult GROUP BY zip ORDER BY 2 DESC;
