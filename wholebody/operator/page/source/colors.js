// One colour for one thing, on the map, in the picture and in three dimensions.
export const COLORS = {
  robot: "#4dabf7",
  goal: "#e8590c", // where something was told to be: the robot as a ghost, a place to go to, a task's goal
  actual: "#f1f3f5",
  sure: "#69db7c", // an object that was seen, accurately enough to grasp it
  unsure: "#ffd43b", // and one that was not
  wall: "#adb5bd",
  place: "#868e96", // what stands on the map
  far: "#ced4da",
  grid: "#343a40",
  page: "#1a1d21",
};
