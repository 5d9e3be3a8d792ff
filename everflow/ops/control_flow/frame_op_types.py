"""The op types of version 1 control flow."""

SWITCHES = ("Switch", "RefSwitch")
# Of many outputs, the one that a number says is alive.
MANY_WAYS = "_SwitchN"
MERGES = ("Merge", "RefMerge")
ENTERS = ("Enter", "RefEnter")
EXITS = ("Exit", "RefExit")
BACK_EDGES = ("NextIteration", "RefNextIteration")
# What hands a value on, such as that of a variable.
IDENTITY = "Identity"
FRAME_OPS = frozenset((*SWITCHES, *MERGES, *ENTERS, *EXITS, *BACK_EDGES, MANY_WAYS, "LoopCond", "ControlTrigger"))
