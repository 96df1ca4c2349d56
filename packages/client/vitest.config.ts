import { testConfig } from "@petstore/testing/config";

export default testConfig();
