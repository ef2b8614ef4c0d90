{# Models stand for tables that are there. #}
{% macro generate_schema_name(custom, node) %}{{ custom or target.schema }}{% endmacro %}
