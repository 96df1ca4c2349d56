import { expect, it } from "vitest";
import { addressBucket } from "./client-identity.js";

it.each([
  ["192.0.2.7", "address:192.0.2.7"],
  ["::ffff:192.0.2.7", "address:192.0.2.7"],
  ["::ffff:c000:207", "address:192.0.2.7"],
  ["0:0:0:0:0:FFFF:192.0.2.7", "address:192.0.2.7"],
  ["64:ff9b::192.0.2.7", "address:192.0.2.7"],
  ["64:ff9b::c000:207", "address:192.0.2.7"],
  ["64:ff9b::1:c000:207", "address:64:ff9b:0:0::/64"],
  ["64:ff9b:1::c000:207", "address:64:ff9b:1:0::/64"],
  ["2001:db8:1:2:3:4:5:6", "address:2001:db8:1:2::/64"],
  ["fe80::1%br-1a2b", "address:fe80:0:0:0::/64"],
  ["::ffff:192.0.2.7%a-b", "address:192.0.2.7"],
  ["192.0.2.7%a-b", "address:unknown"],
  ["not an address", "address:unknown"],
  [undefined, "address:unknown"],
])("of %s is %s", (address, bucket) => {
  expect(addressBucket(address)).toBe(bucket);
});
