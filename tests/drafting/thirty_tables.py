"""A schema of thirty tables, as a company has it: people of three kinds, what they do, lists and more."""

from __future__ import annotations

_CUSTOMERS = ("addresses", "orders", "tickets", "reviews", "carts", "consents")
_THROUGH_ORDERS = ("order_items", "payments", "shipments", "refunds")
_LISTS = (
    "countries",
    "currencies",
    "categories",
    "brands",
    "suppliers_types",
    "warehouses",
    "taxes",
)

SCRIPT = "\n".join(
    [
        "CREATE SCHEMA s;",
        *(f"CREATE TABLE s.{name} (id int PRIMARY KEY, title text NOT NULL);" for name in _LISTS),
        "CREATE TABLE s.products (id int PRIMARY KEY, category_id int REFERENCES s.categories,"
        " brand_id int REFERENCES s.brands, price numeric(8, 2) CHECK (price >= 0 AND price <= 9999));",
        "CREATE TABLE s.stock (product_id int REFERENCES s.products, warehouse_id int REFERENCES s.warehouses,"
        " amount int, PRIMARY KEY (product_id, warehouse_id));",
        "CREATE TABLE s.prices (id int PRIMARY KEY, product_id int REFERENCES s.products, day date);",
        "CREATE TABLE s.customers (id int PRIMARY KEY, full_name text, email text UNIQUE, born date,"
        " country_id int REFERENCES s.countries, marketing boolean NOT NULL);",
        "CREATE TABLE s.employees (id int PRIMARY KEY, last_name text, salary int CHECK (salary BETWEEN 0 AND"
        " 500000), boss int REFERENCES s.employees);",
        *(
            f"CREATE TABLE s.{name} (id bigint PRIMARY KEY, customer_id int NOT NULL REFERENCES s.customers,"
            " employee_id int REFERENCES s.employees, at timestamptz, amount numeric(10, 2));"
            for name in _CUSTOMERS
        ),
        *(
            f"CREATE TABLE s.{name} (id bigint PRIMARY KEY, order_id bigint NOT NULL REFERENCES s.orders,"
            " product_id int REFERENCES s.products, amount int CHECK (amount > 0 AND amount < 1000));"
            for name in _THROUGH_ORDERS
        ),
        "CREATE TABLE s.item_notes (id bigint PRIMARY KEY, item_id bigint REFERENCES s.order_items,"
        " note text);",
        "CREATE TABLE s.ticket_messages (id bigint PRIMARY KEY, ticket_id bigint REFERENCES s.tickets,"
        " body text);",
        "CREATE TABLE s.shifts (employee_id int REFERENCES s.employees, day date, hours int,"
        " PRIMARY KEY (employee_id, day));",
        "CREATE TABLE s.logins (at timestamptz, user_id int, ok boolean);",
        "CREATE TABLE s.applicants (age int, sex text, education text);",
        "CREATE TABLE s.audit (at timestamptz, line text);",
        "CREATE TABLE s.settings (key text PRIMARY KEY, value text);",
        "CREATE TABLE s.newsletters (id int PRIMARY KEY, sent_at timestamptz);",
    ]
)

PEOPLE_OF = {
    "s.customers": "customer",
    "s.employees": "employee",
    **{f"s.{name}": "customer" for name in _CUSTOMERS},
    **{f"s.{name}": "customer" for name in _THROUGH_ORDERS},
    "s.ticket_messages": "customer",
    "s.shifts": "employee",
    "s.logins": "user",
    "s.applicants": "row",
}
