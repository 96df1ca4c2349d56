export { restLinks } from "./reference/pages.js";
export { createRestDoor, type RestDoorDeps } from "./rest-door.js";
