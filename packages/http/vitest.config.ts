import { testConfig } from "@petstore/harness/config";

// Nothing under test has module state, and loading it for every file anew takes longer than the tests.
export default testConfig({ isolate: false });
