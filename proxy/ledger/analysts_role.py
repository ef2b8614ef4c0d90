"""The role that all analysts of a shadow are members of. Whoever needs its name imports no reader with it."""

ANALYSTS = "dp_analyst"
