"""All holes: each module that has some is imported, which puts them into the list."""

from tests.kernel import holes_of_floats as holes_of_floats
from tests.kernel import holes_of_groups as holes_of_groups
from tests.kernel import holes_of_lists as holes_of_lists
from tests.kernel import holes_of_orders as holes_of_orders
from tests.kernel import holes_of_printed_numbers as holes_of_printed_numbers
from tests.kernel import holes_of_types as holes_of_types
from tests.kernel.holes import HOLES as HOLES
