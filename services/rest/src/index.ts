export { openRestDoor } from "./rest-door.js";
