"""Working with people: the Robot Command Protocol and the decisions that robot and operator share."""
