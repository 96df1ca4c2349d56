import { expect, it } from "vitest";
import { writeContractPage } from "../conformance/contract/contract-page.js";
import { subjects } from "../conformance/contract/subjects.js";

it("the page of the contract has every row of the table, as it is compared", async () => {
  await expect(writeContractPage(subjects)).toMatchFileSnapshot("../conformance/contract.md");
});
