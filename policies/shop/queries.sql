SELECT state, count(*), dp.error(count(*)) AS error_95 FROM shop.customers GROUP BY state;
SELECT p.category, sum(o.total), dp.error(sum(o.total)) AS error_95 FROM shop.orders o JOIN shop.products p ON p.id = o.product_id GROUP BY p.category;
SELECT status, count(*), dp.error(count(*)) AS error_95 FROM shop.orders GROUP BY status;
