{% materialization temporary, adapter='postgres' %}
  {{ run_hooks(pre_hooks) }}
  {% call statement('main') %}
    create temporary table {{ this.identifier }} as {{ sql }}
  {% endcall %}
  {{ run_hooks(post_hooks) }}
  {{ return({'relations': []}) }}
{% endmaterialization %}
