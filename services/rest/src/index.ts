export { restLinks } from "./reference/pages.js";
export { openRestDoor, type RestDoorDeps } from "./rest-door.js";
