export const jsonMediaType = "application/json; charset=utf-8";
