import { testConfig } from "@petstore/harness/config";

export default testConfig();
